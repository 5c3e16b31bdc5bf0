package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/buildversion"
)

// version is set by release builds with
// -ldflags "-X main.version=v1.2.3".
var version string

// buildVersion returns the version of docsearch.
func buildVersion() string { return buildversion.Of(version) }

func newVersionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of docsearch",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(newBuildJSON())
			}
			_, err := fmt.Fprintf(a.stdout, "docsearch %s (%s, %s/%s)\n", buildVersion(), runtime.Version(), runtime.GOOS,
				runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON with the commit, its date and the build settings")
	return cmd
}

// buildJSON is the JSON output of version.
type buildJSON struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"`
	Date     string            `json:"date,omitempty"` // of the commit
	Modified bool              `json:"modified"`       // the checkout had changes
	Go       string            `json:"go"`
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	Settings map[string]string `json:"settings"` // flags and variables of the build
}

func newBuildJSON() buildJSON {
	b := buildJSON{Version: buildVersion(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Settings: map[string]string{}}
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		default:
			b.Settings[s.Key] = s.Value
		}
	}
	return b
}
