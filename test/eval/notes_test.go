package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eval"
	hooks "github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/notes"
)

// TestFewNotes checks that notes are shown from a folder of five as from larger ones: with
// the calls that they are about, and hardly with others.
func TestFewNotes(t *testing.T) {
	calls, err := eval.ReadLines[toolCall](filepath.Join("testdata", "calls.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	about, right, wrong := 0, 0, 0
	for _, p := range noteProjects {
		db := noteDatabase(t, p.name)
		for _, c := range calls {
			if c.Project != p.name {
				continue
			}
			shown := notesFor(t, &db, &c, p.folder)
			unexpected := difference(shown, slices.Concat(c.Notes, c.Also))
			switch {
			case len(c.Notes) == 0:
				if len(unexpected) > 0 {
					wrong++
					t.Logf("%s %s %v: unexpected %q", p.name, c.Tool, c.Input, unexpected)
				}
			case p.name == "crate":
				about++
				if missing := difference(c.Notes, shown); len(missing)+len(unexpected) == 0 {
					right++
				} else {
					t.Logf("%s %v: missing %q, unexpected %q", c.Tool, c.Input, missing, unexpected)
				}
			}
		}
	}
	if about != 17 || right < 15 {
		t.Errorf("few notes: %d of %d calls get their note alone, want 15 of 17", right, about)
	}
	if wrong > 1 {
		t.Errorf("%d calls get a note that is not about them, want at most 1", wrong)
	}
}

// noteDatabase builds a database of the notes of a project.
func noteDatabase(t *testing.T, project string) config.Database {
	source, err := ingest.NewFolder(filepath.Join("testdata", "notes", project), folder.Options{NoIgnore: true})
	if err != nil {
		t.Fatal(err)
	}
	db := config.Database{Name: project, Path: filepath.Join(t.TempDir(), project), Inject: []string{config.All}}
	if _, err := index.Build(t.Context(), db.Path, source, index.BuildOptions{Language: "english"}); err != nil {
		t.Fatal(err)
	}
	return db
}

// notesFor returns the notes that the hook shows with a call by default.
func notesFor(t *testing.T, db *config.Database, c *toolCall, cwd string) []string {
	data, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": c.Tool, "tool_input": c.Input, "cwd": cwd})
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := event.ReadFrom(bytes.NewReader(data), event.Claude, event.Environ{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Command.Line == "" && e.File.Path == "" {
		return nil
	}
	e.UserText = c.Said
	entries, err := lookup.Indexes{}.Entries(db, hooks.CallOf(e), config.DefaultInject().Floor)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range notes.Best(entries) {
		names = append(names, n.Document)
	}
	return names
}
