package config

import (
	"os"
	"testing"
)

func TestNames(t *testing.T) {
	dir := t.TempDir()
	l := Locations{Config: Join(dir, "config.json"), Cache: Join(dir, "cache")}
	dbs := []Database{{Name: "pg", Path: "/pg"}, {Name: "cmake", Path: "/cmake"}, {Name: "empty", Path: "/empty"}}
	made := NewNames(dbs, [][]string{{"pgdump", "pgdump", "export"}, {"findpackage", "export"}, nil}, [][]string{{"currentsetting"}, {"targetfile"}, {"targetfile"}})
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
		{NamesOf(l, dbs), "pgdump", 0},
		{NamesOf(l, dbs), "findpackage", 1},
		{NamesOf(l, dbs), "export", -1}, // two define it
		{NamesOf(l, dbs), "pg", -1},
		{NamesOf(l, dbs), "", -1},
		{NamesOf(l, dbs), "zzz", -1},
		{NamesOf(l, other), "pgdump", -1}, // written for another order
		{NamesOf(Locations{Config: l.Config, Cache: dir}, dbs), "pgdump", -1},
		{NamesOf(Locations{}, dbs), "pgdump", -1},
		{NewNames(nil, nil, nil), "pgdump", -1},
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

	for name, want := range map[string]int{"currentsetting": 0, "targetfile": -1, "pgdump": -1} {
		for _, names := range []*Names{made, NamesOf(l, dbs)} {
			if place, found := names.Identifier(name); found != (want >= 0) || found && place != want {
				t.Errorf("identifier %q: database %d, %t, want %d", name, place, found, want)
			}
		}
	}
	if _, found := (*Names)(nil).Identifier("currentsetting"); found {
		t.Error("no names have an identifier")
	}

	path := namesPath(l, pagesExtension)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if place, found := NamesOf(l, dbs).Page("pgdump"); found && place != 0 {
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
