package host

import (
	"testing"

	"github.com/docsearch/docsearch/internal/hook/event"
)

// The server of a tool whose name does not contain it is assumed to exist.
func TestFindServerByTool(t *testing.T) {
	home := t.TempDir()
	getenv := func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return ""
	}
	for tool, want := range map[string]bool{"leann-docs": true, "": false, "mcp__leann__search": false} {
		if found, own := FindServer(event.Claude, getenv, home, tool); found != want || own {
			t.Errorf("%q: got %v, own %v, want %v", tool, found, own, want)
		}
	}
}
