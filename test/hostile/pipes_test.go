//go:build !windows

package hostile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// No file that a hook reads can block it. The test replaces each of them with a
// named pipe without a writer, a pipe whose writer is silent, and an endless
// device. The hooks' deadline is later than the time limit of run, so that it
// cannot rescue a hook that waits for a file.
func TestPipes(t *testing.T) {
	s := newSandbox(t)
	cache := filepath.Join(s.home, ".cache")
	s.env = append(s.env, "DOCSEARCH_HOOK_TIMEOUT_MS=60000", "DOCSEARCH_CACHE_DIR="+cache)
	s.mkdir(cache)
	docs := filepath.Join(s.work, "docs")
	s.write(filepath.Join(docs, "quiet.md"), "---\ntriggers: [noise]\n---\n# Quiet\n\nThe option `--quiet` keeps the widget tool from printing anything but errors.\n")
	db := filepath.Join(s.home, "widget")
	s.must(s.docsearch("index", "build", docs, "--out", db, "--quiet"))
	s.configure(map[string]any{
		"databases": []any{map[string]any{"keywords": []string{"widget"}, "path": db, "description": "Widget manual", "inject": true}},
		"routes":    map[string]any{"noise": map[string]any{"pattern": "noise", "message": "Be quiet."}},
	})
	s.write(filepath.Join(s.home, ".claude.json"), `{"mcpServers": {"docsearch": {"command": "docsearch", "args": ["serve"]}}}`)
	s.write(filepath.Join(s.work, ".mcp.json"), `{"mcpServers": {}}`)
	s.write(filepath.Join(s.work, ".claude", "docsearch-routes.json"), `{"routes": {"loud": {"pattern": "loud", "message": "Be quiet."}}}`)
	transcript := filepath.Join(s.work, "transcript.jsonl")
	s.write(transcript, `{"type": "user", "message": {"role": "user", "content": "make it quiet"}}`+"\n")

	common := `{"session_id": "s1", "cwd": "` + s.work + `", "transcript_path": "` + transcript + `", `
	events := []string{
		common + `"hook_event_name": "SessionStart", "source": "startup"}`,
		common + `"hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_use_id": "t1", "tool_input": {"query": "widget --quiet option"}}`,
		common + `"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "noise"}}`,
		common + `"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": "t3", "tool_input": {"file_path": "` + filepath.Join(s.work, "a.go") + `", "old_string": "a", "new_string": "--quiet widget"}}`,
	}
	for !strings.Contains(strings.Join(s.filesOf(cache), "\n"), ".snapshot") { // the config is too recent for one
		for _, event := range events {
			if r := s.hook(event); r.late || r.code != 0 && r.code != 2 {
				t.Fatalf("exit code %d, late %t: %s", r.code, r.late, r.stderr)
			}
		}
	}

	paths := s.filesOf(s.home, s.work)
	for _, name := range []string{
		"docsearch-config.json", ".snapshot", ".names", ".claude.json", ".mcp.json", "docsearch-routes.json", "transcript.jsonl",
		"manifest.json", "lexical.idx", "passages.table", "docsearch-events.log", "docsearch-denials", "docsearch-injected-",
	} {
		if !strings.Contains(strings.Join(paths, "\n"), name) {
			t.Errorf("no hook left or read a file %s: %q", name, paths)
		}
	}
	contents := map[string]string{}
	for _, path := range paths {
		contents[path] = s.read(path)
	}
	for _, path := range paths {
		s.write(path, contents[path]) // the start of a session removes some
		for kind, replace := range map[string]func() error{
			"pipe":        func() error { return makePipe(path) },
			"silent pipe": func() error { return s.silentPipe(path) },
			"device":      func() error { return os.Symlink("/dev/zero", path) },
		} {
			if err := errors.Join(os.Remove(path), replace()); err != nil {
				t.Fatal(err)
			}
			for _, event := range events {
				if r := s.hook(event); r.late || r.code != 0 && r.code != 2 {
					t.Errorf("%s in place of %s: exit code %d, late %t: %s", kind, path, r.code, r.late, r.stderr)
				}
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			s.write(path, contents[path])
		}
	}
}

// silentPipe creates a named pipe whose writer writes nothing until the test
// ends.
func (s *sandbox) silentPipe(path string) error {
	if err := makePipe(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		s.Cleanup(func() { f.Close() })
	}
	return err
}

// filesOf returns the paths of the regular files below folders.
func (s *sandbox) filesOf(dirs ...string) []string {
	s.Helper()
	var paths []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if d.Type().IsRegular() {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			s.Fatal(err)
		}
	}
	return paths
}
