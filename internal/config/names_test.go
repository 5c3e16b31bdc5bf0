package config

import (
	"os"
	"testing"
)

func TestNames(t *testing.T) {
	dir := t.TempDir()
	l := Locations{Config: Join(dir, "config.json"), Cache: Join(dir, "cache")}
	dbs := []Database{{Name: "pg", Path: "/pg"}, {Name: "cmake", Path: "/cmake"}, {Name: "empty", Path: "/empty"}}
	reads := 0
	identifiers := func([]Database) [][]string {
		reads++
		return [][]string{{"currentsetting"}, {"targetfile"}, {"targetfile"}}
	}
	pages := func([]Database) [][]string {
		return [][]string{{"pgdump", "pgdump", "export"}, {"findpackage", "export"}, nil}
	}
	made := NewNames(dbs, pages, identifiers)
	if err := made.Write(l); err != nil {
		t.Fatal(err)
	}
	other := []Database{dbs[1], dbs[0], dbs[2]}
	for _, tt := range []struct {
		names *Names
		name  string
		want  int // -1: none
	}{
		{made, "pgdump", 0},
		{NamesOf(l, dbs, nil, nil), "pgdump", 0},
		{NamesOf(l, dbs, nil, nil), "findpackage", 1},
		{NamesOf(l, dbs, nil, nil), "export", -1}, // two define it
		{NamesOf(l, dbs, nil, nil), "pg", -1},
		{NamesOf(l, dbs, nil, nil), "", -1},
		{NamesOf(l, dbs, nil, nil), "zzz", -1},
		{NamesOf(l, other, nil, nil), "pgdump", -1}, // written for another order
		{NamesOf(Locations{Config: l.Config, Cache: dir}, dbs, nil, nil), "pgdump", -1},
		{NamesOf(Locations{}, dbs, nil, nil), "pgdump", -1},
		{NewNames(nil, func([]Database) [][]string { return nil }, nil), "pgdump", -1},
		{nil, "pgdump", -1},
	} {
		got, found := tt.names.Page(tt.name)
		if !found {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%q: database %d, want %d", tt.name, got, tt.want)
		}
	}

	for _, names := range []*Names{NamesOf(l, dbs, nil, identifiers), NamesOf(l, dbs, nil, identifiers), NamesOf(l, dbs, nil, nil)} {
		for name, want := range map[string]int{"currentsetting": 0, "targetfile": -1, "pgdump": -1} {
			if place, found := names.Identifier(name); found != (want >= 0) || found && place != want {
				t.Errorf("identifier %q: database %d, %t, want %d", name, place, found, want)
			}
		}
	}
	if reads != 1 {
		t.Errorf("the identifiers were read %d times, want once and then from the file", reads)
	}
	if err := made.Write(l); err != nil {
		t.Fatal(err)
	}
	if _, found := NamesOf(l, dbs, nil, nil).Identifier("currentsetting"); found {
		t.Error("identifiers are left from before")
	}
	if place, found := made.Identifier("currentsetting"); !found || place != 0 {
		t.Errorf("not written: database %d, %t", place, found)
	}
	if _, found := (*Names)(nil).Identifier("currentsetting"); found {
		t.Error("no names have an identifier")
	}

	path := made.path(l, pagesExtension)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if place, found := NamesOf(l, dbs, nil, nil).Page("pgdump"); found && place != 0 {
			t.Errorf("%d of %d bytes: database %d", n, len(data), place)
		}
	}
}

func TestForget(t *testing.T) {
	dir := t.TempDir()
	l := Locations{Config: Join(dir, "config.json"), Cache: Join(dir, "cache")}
	if err := Forget(l); err != nil {
		t.Errorf("without a snapshot: %v", err)
	}
	getenv := func(string) string { return "" }
	if err := os.WriteFile(l.Config, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := StampOf(l.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Snapshot{Source: source}).Write(l, getenv); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSnapshot(l, getenv); err != nil {
		t.Fatal(err)
	}
	if err := Forget(l); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSnapshot(l, getenv); err == nil {
		t.Error("the snapshot is still there")
	}
}
