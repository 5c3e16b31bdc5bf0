package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command has a manual page, and every shell its completions.
func TestGenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the program")
	}
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "-tags", "generate", ".", dir)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=86400")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, "man", "man1", name))
		if err != nil || !strings.Contains(string(page), `"Jan 1970"`) || !strings.Contains(string(page), ".SH SYNOPSIS") {
			t.Errorf("%s: %v, starts with %.200q", name, err, page)
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRootCommand(&app{strings.NewReader(""), io.Discard, io.Discard}))
	for _, name := range []string{
		"bash-completion/completions/docsearch", "zsh/site-functions/_docsearch",
		"fish/vendor_completions.d/docsearch.fish", "powershell/completions/docsearch.ps1",
	} {
		if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !strings.Contains(string(data), "__complete") {
			t.Errorf("%s: %v, starts with %.80q", name, err, data)
		}
	}
}
