package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/pack"
)

// TestPackKill kills pack add and pack update at any time. Each time, the database is the
// old or the new version, whole, and the same command succeeds later.
func TestPackKill(t *testing.T) {
	program := filepath.Join(binary(t), executable("docsearch"))
	work := t.TempDir()
	run := func(home string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = work, homeEnvironment(home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(home string, args ...string) string {
		t.Helper()
		out, err := run(home, args...)
		if err != nil {
			t.Fatalf("docsearch %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}

	// Two versions of a pack, behind one URL.
	publisher := filepath.Join(work, "publisher")
	must(publisher, "pack", "key", "new", "docs.example.com")
	var digests [2]string
	for edition := range 2 {
		docs := filepath.Join(work, fmt.Sprintf("docs%d", edition))
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 120 {
			var b strings.Builder
			for range 400 {
				fmt.Fprintf(&b, "gadget%d ", rng.IntN(3000))
			}
			if i%9 == 0 {
				fmt.Fprintf(&b, "edition%d", edition)
			}
			writeTestFile(t, filepath.Join(docs, fmt.Sprintf("%d.md", i)), fmt.Sprintf("# Gadget %d\n\n%s\n", i, b.String()))
		}
		must(publisher, "index", "build", docs, "--name", fmt.Sprintf("gadgets%d", edition), "-q")
		file := filepath.Join(work, fmt.Sprintf("%d.dspack", edition))
		must(publisher, "pack", "make", fmt.Sprintf("gadgets%d", edition), "--name", "gadgets", "--license", "MIT", "--attribution", "x",
			"--version", fmt.Sprint(edition), "-o", file, "-q")
		o, err := pack.OpenFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, err := pack.ReadHead(t.Context(), o)
		o.Close()
		if err != nil {
			t.Fatal(err)
		}
		digests[edition] = head.Digest()
	}
	key, err := os.ReadFile(filepath.Join(dataFolder(publisher), ".publisher.key"))
	if err != nil {
		t.Fatal(err)
	}
	public := strings.Split(strings.TrimSpace(string(key)), "\n")[1]
	var edition atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(work, fmt.Sprintf("%d.dspack", edition.Load())))
	}))
	defer server.Close()

	kill := func(home string, after time.Duration, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = work, homeEnvironment(home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
		defer timer.Stop()
		cmd.Wait()
	}
	// installed returns the digest of the whole database in a home, "" if there is none.
	installed := func(home string) string {
		t.Helper()
		dir := filepath.Join(dataFolder(home), "gadgets")
		g, err := generation.Current(dir)
		if err != nil {
			return ""
		}
		head, err := pack.Installed(g)
		if err != nil {
			t.Fatalf("half a pack: %v", err)
		}
		if wrong, err := pack.CheckInstalled(g, head); err != nil || len(wrong) > 0 {
			t.Fatalf("differs from the pack: %v %v", wrong, err)
		}
		db, err := index.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		return head.Digest()
	}

	add := []string{"pack", "add", server.URL + "/gadgets.dspack", "--key", public, "--yes"}
	start := time.Now()
	must(filepath.Join(work, "timing"), add...)
	whole := time.Since(start)
	seen := map[string]int{}
	kills := newKillTimes(t, 20)
	for i := range kills.rounds {
		home := filepath.Join(work, fmt.Sprintf("home%d", i))
		edition.Store(0)
		kill(home, kills.after(i, whole), add...)
		switch got := installed(home); got {
		case "", digests[0]:
			seen["add "+fmt.Sprint(got != "")]++
		default:
			t.Fatalf("installed %s", got)
		}
		must(home, add...)
		if installed(home) != digests[0] {
			t.Fatal("the second add did not complete")
		}
		out := must(home, "config", "show")
		if strings.Count(out, public) != 1 {
			t.Fatalf("the config has the publisher %d times", strings.Count(out, public))
		}

		edition.Store(1)
		kill(home, kills.after(i, whole), "pack", "update", "gadgets")
		switch got := installed(home); got {
		case digests[0], digests[1]:
			seen["update "+fmt.Sprint(got == digests[1])]++
		default:
			t.Fatalf("installed %q", got)
		}
		must(home, "pack", "update", "gadgets")
		if installed(home) != digests[1] {
			t.Fatal("the second update did not complete")
		}
		var list []struct{ State string }
		if out := must(home, "list", "--json"); json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].State != library.StateOK {
			t.Fatalf("list: %s", out)
		}
		if left, _ := filepath.Glob(filepath.Join(home, ".cache", "docsearch", "packs", "*")); len(left) > 0 {
			t.Fatalf("left behind: %v", left)
		}
	}
	t.Logf("state after the kill: %v", seen)
}

// homeEnvironment returns the environment of a user with that home.
func homeEnvironment(home string) []string {
	return append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "LOCALAPPDATA="+home, "XDG_DATA_HOME=", "XDG_CACHE_HOME=",
		"DOCSEARCH_DATA="+dataFolder(home), "DOCSEARCH_CACHE_DIR="+filepath.Join(home, ".cache", "docsearch"),
		"DOCSEARCH_CONFIG_PATH="+filepath.Join(home, "config.json"), "CLAUDE_PLUGIN_DATA=", "NO_PROXY=127.0.0.1")
}

func dataFolder(home string) string { return filepath.Join(home, "data") }

func writeTestFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
