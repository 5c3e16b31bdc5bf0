package config

import (
	"os"
	"testing"
)

func TestServed(t *testing.T) {
	l := Locations{Cache: t.TempDir()}
	check := func(client, session string, want bool) {
		t.Helper()
		if got := Unserved(l, client, session); got != want {
			t.Errorf("client %q, session %q: unserved: %t, want %t", client, session, got, want)
		}
	}
	check("7", "s", false) // no server leaves records
	forget := RecordServed(l, 7, "s")
	check("7", "s", false)
	check("7", "cleared", false)
	check("8", "s", false) // a program between the client and the server
	check("8", "other", true)
	check("", "other", false) // the client does not say
	forget()
	check("7", "s", true)
	if files, err := os.ReadDir(l.Cache); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	RecordServed(l, 9, "")()
	check("7", "", true)
}
