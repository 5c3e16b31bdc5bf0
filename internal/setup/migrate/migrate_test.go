package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
)

// A home is the home folder of a test.
type home struct {
	*testing.T
	dir string
}

func newHome(t *testing.T) home {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": dir, "USERPROFILE": dir, "XDG_CONFIG_HOME": "",
		"CLAUDE_CONFIG_DIR": "", "DOCSEARCH_CONFIG_PATH": "", "DOCSEARCH_STATE_DIR": "",
		"DOCSEARCH_DATA": filepath.Join(dir, "data"), "DOCSEARCH_CACHE_DIR": filepath.Join(dir, "cache")} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	return home{t, dir}
}

func (h home) write(path, text string) string {
	h.Helper()
	path = filepath.Join(h.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.Fatal(err)
	}
	return path
}

func (h home) quoted(path string) string {
	text, err := json.Marshal(filepath.Join(h.dir, filepath.FromSlash(path)))
	if err != nil {
		h.Fatal(err)
	}
	return string(text)
}

func (h home) find() (*Migration, *agentconfig.Claude) {
	h.Helper()
	claude, err := agentconfig.FindClaude(".")
	if err != nil {
		h.Fatal(err)
	}
	m, err := Find(claude, config.Locate(os.Getenv))
	if err != nil {
		h.Fatal(err)
	}
	return m, claude
}

var program = agentconfig.Program{Path: "docsearch", Hook: "docsearch"}

// Files that a migration creates or changes are as before after Undo, in whatever order their
// changes were made, and also if the migration was interrupted by a failure.
func TestUndoInterrupted(t *testing.T) {
	h := newHome(t)
	const settings = `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "lore hook"}]}]}}`
	path := h.write(".claude/settings.json", settings)
	h.write("notes/a.md", "# A\n")
	h.write(".config/lore/lore.toml", "knowledge_dir = "+h.quoted("notes")+"\n")
	state := h.write(".claude.json", `["not an object"]`)
	m, _ := h.find()
	built := func(context.Context, *Database) error { return nil }
	// The last file cannot be changed.
	if err := m.Apply(t.Context(), program, built, func(Step) {}); err == nil {
		t.Fatal("got no error")
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	m, claude := h.find()
	if err := m.Apply(t.Context(), program, built, func(Step) {}); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); strings.Contains(string(data), "lore hook") || !strings.Contains(string(data), "docsearch hook") {
		t.Errorf("after the migration: %s", data)
	}
	if m, _ := h.find(); !m.Empty() || len(m.Left) > 0 {
		t.Errorf("after the migration: still to migrate: %+v", m)
	}
	u, err := Undo(claude, config.Locate(os.Getenv))
	if err != nil || len(u.Changed) > 0 {
		t.Fatalf("got %+v, %v", u, err)
	}
	if data, _ := os.ReadFile(path); string(data) != settings {
		t.Errorf("after undo: got %s, want %s", data, settings)
	}
	for _, created := range []string{state, config.Locate(os.Getenv).Config, config.MigrationPath(os.Getenv)} {
		if _, err := os.Stat(created); err == nil {
			t.Errorf("after undo: %s exists", created)
		}
	}
}

// A database that cannot be built gets no config entry.
func TestFailedBuild(t *testing.T) {
	h := newHome(t)
	index := "widgets/.leann/indexes/"
	for _, name := range []string{"gadgets", "sprockets"} {
		h.write(index+name+"/documents.leann.meta.json", `{"passage_sources": []}`)
		h.write(index+name+"/documents.leann.passages.jsonl", `{"id": "0", "text": "a", "metadata": {}}`+"\n")
	}
	h.write(".leann/projects.json", "["+h.quoted("widgets")+"]")
	m, _ := h.find()
	var failed []string
	err := m.Apply(t.Context(), program, func(_ context.Context, d *Database) error {
		if d.Entry.Keywords[0] == "gadgets" {
			return errors.New("no space")
		}
		return nil
	}, func(s Step) {
		if s.Database != nil && s.Database.Failed != nil {
			failed = append(failed, s.Database.Source)
		}
	})
	if err != nil || len(failed) != 1 || filepath.Base(failed[0]) != "gadgets" {
		t.Fatalf("got %q, %v", failed, err)
	}
	data, err := os.ReadFile(config.Locate(os.Getenv).Config)
	if err != nil || strings.Contains(string(data), "gadgets") || !strings.Contains(string(data), "sprockets") {
		t.Errorf("got %s, %v", data, err)
	}
}

// Entries get names that no other database has and that are no common words, and indexes that the
// config has get no second entry.
func TestNamesOfIndexes(t *testing.T) {
	h := newHome(t)
	for _, dir := range []string{"widgets/.leann/indexes/gadgets", "widgets/.leann/indexes/app", "rods/.leann/indexes/gadgets",
		"rods/.leann/indexes/known", "rods/mail"} {
		h.write(dir+"/documents.leann.meta.json", `{}`)
		h.write(dir+"/documents.leann.passages.jsonl", `{"id": "0", "text": "a", "metadata": {}}`+"\n")
	}
	h.write(".leann/projects.json", "["+h.quoted("widgets")+", "+h.quoted("rods")+"]")
	h.write(".claude/hooks/docsearch-config.json", `{"databases": [{"keywords": ["bolts"], "description": "Bolts", "path": `+
		h.quoted("rods/.leann/indexes/known")+`}]}`)
	m, _ := h.find()
	var names []string
	for _, d := range m.Databases {
		names = append(names, d.Entry.Keywords[0])
	}
	if got, want := strings.Join(names, " "), "widgets-app gadgets rods-gadgets mail"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What migrate cannot do is left to the user, with the reason.
func TestLeft(t *testing.T) {
	h := newHome(t)
	h.write(".claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [
		{"type": "command", "command": "lore hook; audit"}]}]}}`)
	m, _ := h.find()
	got := strings.Join(m.Left, "\n")
	for _, want := range []string{`"lore hook; audit"`, "the notes of Lore: cannot read"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !m.Empty() {
		t.Errorf("got %+v, want nothing to migrate", m)
	}
}
