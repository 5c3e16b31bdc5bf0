package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes"
)

// A session start triggers an update of the databases and does not wait for it.
func TestUpdateOnSessionStart(t *testing.T) {
	folder := t.TempDir()
	h := newHookHome(t, "")
	h.env = append(h.env, "DOCSEARCH_DATA="+filepath.Join(h.dir, "data"))
	h.configure(strings.Replace(`{"databases": [{"keywords": ["team"], "path": "PATH", "description": "Conventions of the team"}],
 "update": {"on_session_start": true}}`, "PATH", filepath.ToSlash(filepath.Join(h.dir, "data", "team")), 1))
	h.write(filepath.Join(folder, "a.md"), "# A\n\nThe first text.\n")
	build := h.command()
	build.Args = []string{build.Path, "index", "build", folder, "--name", "team"}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Pretend that the last update was long ago.
	indextest.ChangeManifest(t, filepath.Join(h.dir, "data", "team"), func(m *generation.Manifest) { m.Created = m.Created.AddDate(-20, 0, 0) })
	h.write(filepath.Join(folder, "b.md"), "# B\n\nAnother text, about zymotic things.\n")
	r := h.run(`{"session_id":"s","hook_event_name":"SessionStart","source":"startup","cwd":"/p"}`)
	if r.code != 0 || !strings.Contains(r.stdout, "Local documentation is searchable with the tool") || r.stderr != "" {
		t.Fatalf("code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		search := h.command()
		search.Args = []string{search.Path, "search", "zymotic", "--db", filepath.Join(h.dir, "data", "team")}
		out, _ := search.CombinedOutput()
		if strings.Contains(string(out), "zymotic things") {
			return
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(h.dir, ".cache", "docsearch", background.LogName))
			t.Fatalf("the database is as it was: %s\nlog of the update: %s", out, log)
		}
	}
}

// Fifty concurrent hooks of one session, each a process: no denial is lost, no
// note is shown twice, and every hook exits.
func TestManyHooksAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("fifty processes")
	}
	dir := t.TempDir()
	noteDatabase := passage.Passage{ID: "1", Path: "errors.md", Title: "Errors", Text: "Wrap errors with fmt.Errorf and the verb %w, and say what was being done."}
	if err := os.WriteFile(filepath.Join(dir, leann.PassagesName), noteDatabase.AppendLine(nil), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	path, err := json.Marshal(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := newHookHome(t, `{"databases": [
  {"keywords": ["gitlab"], "path": "`+rootPath()+`docs/gitlab", "mcp_tool_name": "mcp__leann__search", "description": "GitLab documentation"},
  {"keywords": ["team"], "path": `+string(path)+`, "description": "Conventions of the team", "inject": true}],
 "inject": {"floor": 0.1}}`)
	const edit = `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/p/store.go","old_string":"x","new_string":"return fmt.Errorf(\"read\", err)"}}`
	const each = 25
	search := func(i int) string { return webSearch("s", fmt.Sprintf("gitlab question %d", i)) }
	results := make([]hookResult, 2*each)
	var wg sync.WaitGroup
	for i := range results {
		event := edit
		if i%2 == 0 {
			event = search(i)
		}
		wg.Go(func() { results[i] = h.result(h.command(), strings.NewReader(event)) })
	}
	wg.Wait()
	shown := 0
	for i, r := range results {
		switch {
		case i%2 == 0:
			r.requireDenial(t)
		case r.code != 0 || r.stderr != "":
			t.Errorf("an edit ended with code %d, stderr %q", r.code, r.stderr)
		case r.stdout != "":
			shown++
			if !strings.Contains(r.stdout, "Wrap errors") {
				t.Errorf("context %q", r.stdout)
			}
		}
	}
	if shown != 1 {
		t.Errorf("the note was shown %d times, want once", shown)
	}
	records, err := notes.Store{Dir: filepath.Dir(h.config)}.Read("s")
	if err != nil || len(records) != 1 || records[0].Title != "Errors" {
		t.Errorf("records %+v, %v", records, err)
	}
	// The retry runs, because the denial was recorded.
	for i := 0; i < 2*each; i += 2 {
		if r := h.run(search(i)); r.code != 0 || r.stdout != "" {
			t.Errorf("search %d, sent again, ended with code %d", i, r.code)
		}
	}
}

// With inject.hybrid, vectors add to the relevance of notes, from the file and from the
// snapshot of the config.
func TestHookHybridNotes(t *testing.T) {
	path, err := json.Marshal(indextest.Database(t, 400))
	if err != nil {
		t.Fatal(err)
	}
	h := newHookHome(t, `{"databases": [{"keywords": ["registry"], "path": `+string(path)+`, "description": "Registry documentation", "inject": true}]}`)
	event := `{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "registry rotate", "description": "` + indextest.Question + `"}}`
	const byVectors = " by vectors)"
	for _, run := range []string{"first", "again"} {
		r := h.run(event, "DOCSEARCH_DEBUG=1", "DOCSEARCH_INJECT_HYBRID=true")
		if r.code != 0 || !strings.Contains(r.stderr, byVectors) {
			t.Errorf("%s: code %d, stderr %s", run, r.code, r.stderr)
		}
	}
	if r := h.run(event, "DOCSEARCH_DEBUG=1"); r.code != 0 || strings.Contains(r.stderr, byVectors) || !strings.Contains(r.stderr, "query for this call") {
		t.Errorf("without hybrid: code %d, stderr %s", r.code, r.stderr)
	}
	// A limit of one note.
	r := h.run(strings.Replace(event, `"s"`, `"t"`, 1), "DOCSEARCH_INJECT_TOP_K=1", "DOCSEARCH_INJECT_FLOOR=0.3")
	if n := strings.Count(r.stdout, "```\\n"); n != 2 {
		t.Errorf("%d fences, want those of one note: %s", n, r.stdout)
	}
}
