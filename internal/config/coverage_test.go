package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRegistered(t *testing.T) {
	l := Locations{Cache: filepath.Join(t.TempDir(), "cache")}
	if r, ok := Registered(l, "/home/a/.claude"); ok {
		t.Errorf("without a record: %+v", r)
	}
	for _, want := range []Coverage{{}, {Servers: true}, FullCoverage()} {
		if err := SetRegistered(l, "/home/a/.claude", &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := Registered(l, "/home/a/.claude"); !ok || got != want {
			t.Errorf("recorded %+v, read %+v, %t", want, got, ok)
		}
	}
	if r, ok := Registered(l, "/home/b/.claude"); ok {
		t.Errorf("of other settings: %+v", r)
	}
	path := registeredPath(l, "/home/a/.claude")
	for _, damaged := range []string{"", registeredMagic, registeredMagic + "\x02\x02\x02\x02", registeredMagic + "\x02\x02\x02\x02\x02\x02"} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, ok := Registered(l, "/home/a/.claude"); ok {
			t.Errorf("%q reads as %+v", damaged, r)
		}
	}
	for range 2 {
		if err := SetRegistered(l, "/home/a/.claude", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the record is still there")
	}
	if err := SetRegistered(Locations{}, "/home/a/.claude", nil); err == nil {
		t.Error("no error without a cache folder")
	}
}

func TestCoverage(t *testing.T) {
	a, b := Coverage{Edits: true}, Coverage{Servers: true, Failures: true}
	if u := a.Union(b); u != (Coverage{Edits: true, Servers: true, Failures: true}) || !u.Includes(a) || !u.Includes(b) || a.Includes(u) {
		t.Errorf("union %+v", u)
	}
}
