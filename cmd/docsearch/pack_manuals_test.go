package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/pack"
)

// manualQueries are web searches that each manual answers.
var manualQueries = []struct{ name, query string }{
	{"cmake", "cmake add_custom_command OUTPUT DEPENDS"},
	{"django", "django select_related vs prefetch_related"},
	{"git", "git rebase --onto upstream branch"},
	{"nodejs", "nodejs fs.readFile encoding option"},
	{"postgresql", "postgresql CREATE INDEX CONCURRENTLY"},
	{"python", "python itertools.groupby key function"},
	{"sqlite", "sqlite WITHOUT ROWID table"},
}

// TestPackManuals adds packs of real documentation from a registry on loopback, as two
// users with different settings. It measures the time until the hook answers from all of
// them, and compares the indexes byte for byte.
func TestPackManuals(t *testing.T) {
	docs := os.Getenv("DOCSEARCH_EVAL_DOCS")
	if docs == "" {
		t.Skip("DOCSEARCH_EVAL_DOCS names no documentation to pack")
	}
	program := filepath.Join(binary(t), executable("docsearch"))
	work := t.TempDir()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	reference := func(name string) string {
		return "oci://" + strings.TrimPrefix(server.URL, "http://") + "/docs/" + name + ":1"
	}
	var cpu time.Duration // of all processes
	run := func(env []string, stdin string, args ...string) ([]byte, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = work, append(env, "DOCKER_CONFIG="+work), strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		return out, err
	}
	must := func(env []string, args ...string) []byte {
		t.Helper()
		out, err := run(env, "", args...)
		if err != nil {
			t.Fatalf("docsearch %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	publisher := homeEnvironment(filepath.Join(work, "publisher"))
	must(publisher, "pack", "key", "new", "docs.example.com")
	data, err := os.ReadFile(filepath.Join(dataFolder(filepath.Join(work, "publisher")), ".publisher.key"))
	if err != nil {
		t.Fatal(err)
	}
	public := strings.Split(strings.TrimSpace(string(data)), "\n")[1]
	for _, m := range manualQueries {
		must(publisher, "index", "build", filepath.Join(docs, m.name)+"/", "--name", m.name, "-q")
		must(publisher, "pack", "make", m.name, "--license", "other", "--attribution", "the authors", "-o", reference(m.name), "-q")
	}

	users := []struct {
		home string
		env  []string
	}{
		{filepath.Join(work, "first"), []string{"GOMAXPROCS=4", "LANG=C"}},
		{filepath.Join(work, "another", "päth with spaces"), []string{"GOMAXPROCS=1", "LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "TZ=Asia/Tokyo"}},
	}
	for i, u := range users {
		env := append(homeEnvironment(u.home), u.env...)
		start, before := time.Now(), cpu
		for _, m := range manualQueries {
			must(env, "pack", "add", reference(m.name), "--key", public, "--yes")
		}
		added := time.Since(start)
		for _, m := range manualQueries {
			event := fmt.Sprintf(`{"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": %q, "tool_name": "WebSearch", "tool_input": {"query": %q}}`, m.name, m.query)
			out, err := run(env, event, "hook")
			if err == nil || !bytes.Contains(out, []byte("Found in local documentation (")) || !bytes.Contains(out, []byte("published by docs.example.com")) {
				t.Errorf("%s: the hook did not answer: %v %s", m.name, err, out)
			}
		}
		t.Logf("user %d: added in %v, answered after %v, %v of processor time", i,
			added.Round(10*time.Millisecond), time.Since(start).Round(10*time.Millisecond), (cpu - before).Round(10*time.Millisecond))
	}
	for _, m := range manualQueries {
		var digests [2]string
		for i, u := range users {
			g, err := generation.Current(filepath.Join(dataFolder(u.home), m.name))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range g.Files {
				file, err := g.File(f.Name).Read(1 << 30)
				if err != nil {
					t.Fatal(err)
				}
				digests[i] += f.Name + " " + pack.DigestOf(file).SHA256 + "\n"
			}
		}
		if digests[0] != digests[1] {
			t.Errorf("%s: the indexes differ:\n%s\n%s", m.name, digests[0], digests[1])
		}
	}
}
