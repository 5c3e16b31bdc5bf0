//go:build e2e && linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// If docsearch dies before main with exit code 2, the client does not treat
// this as a denial. test/hostile runs the installed command under limits of all
// sizes.
func TestHookThatCannotStart(t *testing.T) {
	for _, version := range versions {
		for name, set := range map[string]func(*testing.T, *session, string) []string{
			"install": func(t *testing.T, s *session, dying string) []string {
				s.docsearch(t, "install", "--command", dying)
				return nil
			},
			"plugin": func(t *testing.T, s *session, dying string) []string {
				dir := pluginWithoutProgram(t)
				if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(dying, filepath.Join(dir, "bin", "docsearch-hook")); err != nil {
					t.Fatal(err)
				}
				return []string{"--plugin-dir", dir}
			},
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				s := newSession(t, version)
				s.database(t)
				s.write(t, s.settings(), `{"permissions": {"allow": ["WebSearch"]}}`)
				log := filepath.Join(s.home, "exit-codes")
				m := newModel(t, func(c conversation) reply {
					results := c.results()
					switch {
					case c.tool("WebSearch") == nil && len(results["ToolSearch"]) == 0 && c.tool("ToolSearch") != nil:
						return call("load", "ToolSearch", map[string]any{"query": "select:WebSearch", "max_results": 5})
					case len(results["WebSearch"]) == 0:
						return call("search", "WebSearch", map[string]any{"query": question})
					}
					return say("Done.")
				})
				r := s.ask(t, m, "Search the web.", set(t, s, s.dyingProgram(t, log))...)
				if codes := read(t, log); !strings.Contains(codes, "hook 2\n") {
					t.Fatalf("no hook died: %q", codes)
				}
				searches := m.requests[len(m.requests)-1].results()["WebSearch"]
				if len(searches) != 1 || searches[0].IsError || !strings.Contains(searches[0].Content.text(), webResult) {
					t.Errorf("results %+v, want that of the web; the client said\n%s", searches, r)
				}
				if len(r.result.Denials) > 0 {
					t.Errorf("denied: %+v", r.result.Denials)
				}
			})
		}
	}
}

// dyingProgram returns a docsearch with too little memory to start. It logs its
// exit codes.
func (s *session) dyingProgram(t *testing.T, log string) string {
	t.Helper()
	path := filepath.Join(s.home, "bin", "docsearch")
	s.write(t, path, fmt.Sprintf("#!/bin/sh\n( ulimit -v 200000; exec '%s' \"$@\" )\ncode=$?\necho \"$1 $code\" >> '%s'\nexit $code\n", hookProgram(t), log))
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
