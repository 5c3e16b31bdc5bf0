package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// serveNotes starts a server whose agent may write notes, and returns the folder of the
// notes. A file outside the folder must stay as it is.
func serveNotes(t *testing.T) (s *sandbox, start func() *server, folder string) {
	s = newSandbox(t)
	folder = filepath.Join(s.home, "team", "notes")
	s.write(filepath.Join(folder, "own.md"), "# Own note\n\nStart.\n")
	outside := filepath.Join(s.home, "team", "secret.md")
	s.write(outside, canary)
	s.must(s.docsearch("index", "build", folder, "--name", "team"))
	s.configure(map[string]any{"databases": []any{map[string]any{
		"name": "team", "keywords": []string{"conventions"}, "path": filepath.Join(s.home, ".local", "share", "docsearch", "team"),
		"description": "Conventions", "notes": folder,
	}}, "inject": map[string]any{"floor": 0.1}})
	t.Cleanup(func() {
		if got := s.read(outside); got != canary {
			t.Errorf("the file outside is %q", got)
		}
		entries, err := os.ReadDir(filepath.Dir(folder))
		if err != nil || len(entries) != 2 {
			t.Errorf("files next to the folder: %v, %v", entries, err)
		}
	})
	return s, func() *server { return s.serve() }, folder
}

// noteNames returns the names of the notes.
func noteNames(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A note that names another place, adds front matter, or is too long is refused, through
// every tool.
func TestHostileNotes(t *testing.T) {
	_, start, folder := serveNotes(t)
	server := start()
	long := strings.Repeat("long text ", 30<<10) // the server refuses messages of more than 4 MiB
	version := func() string {
		read := server.call(t, "note_update", map[string]any{"name": "own.md"})
		_, rest, _ := strings.Cut(read, "(version ")
		version, _, _ := strings.Cut(rest, ")")
		return version
	}()
	for name, call := range map[string]struct {
		tool      string
		arguments map[string]any
	}{
		"parent":               {"note_add", map[string]any{"title": "T", "name": "../secret.md", "text": "x"}},
		"parent, update":       {"note_update", map[string]any{"name": "../secret.md", "version": version, "text": "x"}},
		"parent, append":       {"note_append", map[string]any{"name": "../secret.md", "text": "x"}},
		"absolute":             {"note_append", map[string]any{"name": filepath.Join(filepath.Dir(folder), "secret.md"), "text": "x"}},
		"hidden":               {"note_add", map[string]any{"title": "T", "name": ".claude/settings.md", "text": "x"}},
		"program":              {"note_add", map[string]any{"title": "T", "name": "run.sh", "text": "x"}},
		"front matter, title":  {"note_add", map[string]any{"title": "T\npinned: true", "text": "x"}},
		"front matter, tag":    {"note_add", map[string]any{"title": "T", "tags": "a\npriority: 10", "text": "x"}},
		"front matter, text":   {"note_update", map[string]any{"name": "own.md", "version": version, "text": "---\npinned: true\n---\nx"}},
		"pinned":               {"note_add", map[string]any{"title": "T", "text": "x", "pinned": true}},
		"too long":             {"note_add", map[string]any{"title": "T", "text": long}},
		"too long, update":     {"note_update", map[string]any{"name": "own.md", "version": version, "text": long}},
		"too long, append":     {"note_append", map[string]any{"name": "own.md", "text": long}},
		"too long, title":      {"note_add", map[string]any{"title": long, "text": "x"}},
		"without the version":  {"note_update", map[string]any{"name": "own.md", "text": "x"}},
		"with another version": {"note_update", map[string]any{"name": "own.md", "version": "0", "text": "x"}},
	} {
		if got := server.call(t, call.tool, call.arguments); strings.Contains(got, "Added") || strings.Contains(got, "Updated") || strings.Contains(got, "Appended") || len(got) > 8000 {
			t.Errorf("%s: %.300s", name, got)
		}
	}
	if names := noteNames(t, folder); len(names) != 1 {
		t.Errorf("notes %q", names)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "own.md")); err != nil || string(data) != "# Own note\n\nStart.\n" {
		t.Errorf("the note is %.200q, %v", data, err)
	}
	// Appending cannot exceed the limit in steps.
	for range 3 {
		server.call(t, "note_append", map[string]any{"name": "own.md", "text": strings.Repeat("y", 40<<10)})
	}
	if st, err := os.Stat(filepath.Join(folder, "own.md")); err != nil || st.Size() > 64<<10 {
		t.Errorf("the note has %d bytes, %v", st.Size(), err)
	}
}

// Two servers append to a note at once: no line is lost. Of two that add the same note,
// one sees that it exists.
func TestTwoNoteWriters(t *testing.T) {
	_, start, folder := serveNotes(t)
	const lines = 5
	var wg sync.WaitGroup
	replies := make([][]string, 2)
	for i := range replies {
		server := start()
		wg.Go(func() {
			for n := range lines {
				replies[i] = append(replies[i], server.call(t, "note_append", map[string]any{"name": "own.md", "text": fmt.Sprintf("Line %d of writer %d.", n, i)}))
			}
			replies[i] = append(replies[i], server.call(t, "note_add", map[string]any{"title": "Same", "name": "same.md", "text": fmt.Sprint("of writer ", i), "confirm_new": true}))
		})
	}
	wg.Wait()
	data, err := os.ReadFile(filepath.Join(folder, "own.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range replies {
		for n := range lines {
			if line := fmt.Sprintf("\nLine %d of writer %d.\n", n, i); !strings.Contains(string(data), line) {
				t.Errorf("%q is lost: %s", line, replies[i][n])
			}
		}
	}
	added := 0
	for _, r := range replies {
		if strings.HasPrefix(r[lines], "Added same.md") {
			added++
		}
	}
	if added != 1 {
		t.Errorf("%d writers added the note: %q, %q", added, replies[0][lines], replies[1][lines])
	}
}

// A note that quotes wrappers and fences is stored as written, and no line of it is outside
// a fence when the hook or a tool shows it.
func TestNoteQuotesWrappers(t *testing.T) {
	s, start, folder := serveNotes(t)
	server := start()
	for name, text := range fenceBreakers {
		if strings.ContainsAny(text, "\x1b\a\r\u200b") || name == "tag characters" {
			continue // refused, see TestHostileNotes and package notebook
		}
		word := subjectWord(name)
		stored := "The " + word + " crank.\n" + text + "\n"
		got := server.call(t, "note_add", map[string]any{"title": "About " + word, "name": word + ".md", "text": stored, "confirm_new": true})
		if !strings.HasPrefix(got, "Added ") {
			t.Errorf("%s: %.500s", name, got)
			continue
		}
		if data, err := os.ReadFile(filepath.Join(folder, word+".md")); err != nil || !strings.HasSuffix(string(data), "\n---\n"+stored) {
			t.Errorf("%s: stored %.300q, %v", name, data, err)
		}
		edit, err := json.Marshal(map[string]any{
			"session_id": "e" + word, "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": "/p",
			"tool_input": map[string]any{"file_path": "/p/" + word + ".txt", "content": word + " crank " + word},
		})
		if err != nil {
			t.Fatal(err)
		}
		for output, got := range map[string]string{
			"hook":   strings.Join(hookText(t, s.hook(string(edit))), "\n"),
			"update": server.call(t, "note_update", map[string]any{"name": word + ".md"}),
		} {
			if !strings.Contains(got, "SYSTEM") {
				t.Errorf("%s, %s: the note is not shown: %.500s", name, output, got)
			}
			for _, part := range forbiddenStrings {
				if part != strings.Repeat("`", 30) && strings.Contains(got, part) {
					t.Errorf("%s, %s: %q is in\n%.1000s", name, output, part, got)
				}
			}
			for _, line := range outsideFences(got) {
				if strings.HasPrefix(line, "SYSTEM") || strings.HasPrefix(line, "[2] Another") {
					t.Errorf("%s, %s: %q is outside a fence in\n%.1000s", name, output, line, got)
				}
			}
		}
	}
}
