package hostile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asUser runs the binary as a user whom permissions apply to.
func (s *sandbox) asUser(args ...string) result {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, *binary, args...)
	cmd.Env = s.env
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: limitedUser, Gid: limitedUser}}
	}
	return s.wait(ctx, cmd, "")
}

// What a user loses the permission to read stays in the database, in each command that
// writes it, and is counted.
func TestUnreadableStays(t *testing.T) {
	s := newSandbox(t)
	docs := filepath.Join(s.work, "docs")
	for i := range 20 {
		s.write(filepath.Join(docs, "open", fmt.Sprintf("%d.md", i)), fmt.Sprintf("# Open %d\n\nThe kettle number %d whistles.\n", i, i))
		s.write(filepath.Join(docs, "shut", fmt.Sprintf("%d.md", i)), fmt.Sprintf("# Shut %d\n\nThe samovar number %d hums.\n", i, i))
	}
	if os.Getuid() == 0 {
		s.chown(limitedUser)
		if err := os.Chmod(filepath.Dir(*binary), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.must(s.asUser("index", "build", "docs"))
	shut, file := filepath.Join(docs, "shut"), filepath.Join(docs, "open", "3.md")
	s.write(file, "# Changed\n\nBut who can tell?\n")
	for path, mode := range map[string]os.FileMode{shut: 0, file: 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(shut, 0o755) })
	for _, args := range [][]string{
		{"update", "docs"},
		{"update", "--all"},
		{"update", "--full", "docs"},
		{"index", "build", "docs", "--name", "docs"},
		{"index", "build", filepath.Join(s.home, ".local", "share", "docsearch", "docs")},
	} {
		r := s.must(s.asUser(args...))
		if !strings.Contains(r.stderr, "kept the previous version of 21 documents that cannot be read") {
			t.Errorf("%q warns: %q", args, r.stderr)
		}
		info := s.must(s.asUser("index", "info", "docs"))
		if !strings.Contains(info.stdout, "40 documents") || !strings.Contains(info.stdout, "shut/: cannot read: permission denied; kept the previous version of its documents: 20") {
			t.Errorf("after %q: %s", args, info.stdout)
		}
	}
	if r := s.must(s.asUser("update", "--json", "docs")); !strings.Contains(r.stdout, `"kept":{"unreadable":21}`) {
		t.Errorf("JSON: %s", r.stdout)
	}
	// Other users cannot read the passages of documents that they cannot read.
	passages := filepath.Join(s.home, ".local", "share", "docsearch", "docs", "documents.leann.passages.jsonl")
	if st, err := os.Stat(passages); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("passages: %v, %v", st.Mode(), err)
	}
	// The whole source is out of reach: that is an error, and the database stays.
	if err := os.Chmod(docs, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(docs, 0o755) })
	if r := s.asUser("update", "docs"); r.code != 1 || !strings.Contains(r.stderr, "permission denied") {
		t.Errorf("exit code %d, %q", r.code, r.stderr)
	}
	if info := s.must(s.asUser("index", "info", "docs")); !strings.Contains(info.stdout, "40 documents") {
		t.Errorf("a source that cannot be read leaves: %s", info.stdout)
	}
}
