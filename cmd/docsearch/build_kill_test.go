package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/web/machine"
)

// A builder runs index build as a process, on a source that has two editions.
type builder struct {
	program      string
	env          []string
	source       string   // argument of index build
	again        []string // command of later builds; nil: same
	dir          string   // database folder
	writeEdition func(t *testing.T, edition int)
}

// number of documents per edition; differs, so that counts identify the edition
var editionSize = [...]int{40, 45}

func editionText(edition, document int) string {
	return fmt.Sprintf("Gadget number %d of edition%d has a crank, a bell and a doohickey%d that holds the two together.", document, edition, document)
}

// folderBuilder builds a database from a folder.
func folderBuilder(t *testing.T) *builder {
	data, root := t.TempDir(), t.TempDir()
	docs := filepath.Join(root, "docs")
	b := newBuilder(t, docs, filepath.Join(data, "docs"), "DOCSEARCH_DATA="+data)
	b.writeEdition = func(t *testing.T, edition int) {
		if err := os.RemoveAll(docs); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(docs, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range editionSize[edition] {
			text := fmt.Sprintf("# Gadget %d\n\n%s\n", i, editionText(edition, i))
			if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%d.md", i)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// leannBuilder builds the index of LEANN passages. An edition replaces the
// passages file by a new file, which LEANN does not do.
func leannBuilder(t *testing.T) *builder {
	dir := t.TempDir()
	b := newBuilder(t, dir, dir, "DOCSEARCH_DATA="+t.TempDir())
	b.writeEdition = func(t *testing.T, edition int) {
		var lines []byte
		for i := range editionSize[edition] {
			p := passage.Passage{ID: fmt.Sprint(i), Text: editionText(edition, i), Path: fmt.Sprintf("%d.md", i)}
			lines = p.AppendLine(lines)
		}
		path := filepath.Join(dir, "passages.jsonl")
		if err := os.WriteFile(path+".new", lines, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// siteBuilder builds a database from a site.
func siteBuilder(t *testing.T) *builder {
	var edition atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := int(edition.Load())
		if r.URL.Path == "/sitemap.xml" {
			io.WriteString(w, "<urlset>")
			for i := range editionSize[now] {
				fmt.Fprintf(w, "<url><loc>http://%s/gadgets/%d</loc></url>", r.Host, i)
			}
			io.WriteString(w, "</urlset>")
			return
		}
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/gadgets/%d", &i); err != nil || i >= editionSize[now] {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("ETag", fmt.Sprintf(`"%d-%d"`, now, i))
		page := fmt.Sprintf("<main><h1>Gadget %d</h1><p>%s</p></main>", i, editionText(now, i))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(page))
	}))
	t.Cleanup(s.Close)
	data := t.TempDir()
	b := newBuilder(t, s.URL+"/gadgets/", filepath.Join(data, "gadgets"), "DOCSEARCH_DATA="+data)
	b.env = append(b.env, "NO_PROXY=127.0.0.1")
	b.writeEdition = func(_ *testing.T, n int) { edition.Store(int32(n)) }
	return b
}

// updating turns all builds except the first one into updates.
func updating(newBuilder func(*testing.T) *builder) func(*testing.T) *builder {
	return func(t *testing.T) *builder {
		b := newBuilder(t)
		b.again = []string{"update", b.dir}
		return b
	}
}

func newBuilder(t *testing.T, source, dir, env string) *builder {
	t.Helper()
	return &builder{
		program: filepath.Join(binary(t), executable("docsearch")),
		env:     append(os.Environ(), env, "DOCSEARCH_CONFIG_PATH="+filepath.Join(t.TempDir(), "config.json")),
		source:  source,
		dir:     dir,
	}
}

func (b *builder) command(ctx context.Context, args ...string) *exec.Cmd {
	command := []string{"index", "build", b.source}
	if _, err := generation.Current(b.dir); err == nil && b.again != nil {
		command = b.again
	}
	return b.docsearch(ctx, append(command, args...)...)
}

func (b *builder) docsearch(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env = b.env
	return cmd
}

func (b *builder) build(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	if out, err := b.command(t.Context()).CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return time.Since(began)
}

// check checks that the database is valid and that its results come from one
// edition only, and returns that edition.
func (b *builder) check(t *testing.T) int {
	t.Helper()
	r, err := index.Verify(t.Context(), b.dir, nil)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("verify: %v, %q", err, r.Problems)
	}
	edition := 0
	if r.Passages == editionSize[1] {
		edition = 1
	}
	if r.Passages != editionSize[edition] {
		t.Fatalf("%d passages are those of no edition", r.Passages)
	}
	db, err := index.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, want := range []int{0, 7, editionSize[edition] - 1} {
		result, err := db.Search(t.Context(), index.Query{Text: fmt.Sprintf("which gadget has doohickey%d", want)})
		if err != nil || len(result.Hits) == 0 {
			t.Fatalf("search: %d hits, %v", len(result.Hits), err)
		}
		if text := editionText(edition, want); !strings.Contains(result.Hits[0].Text, text) {
			t.Fatalf("the best hit is %q, want %q", result.Hits[0].Text, text)
		}
		for _, h := range result.Hits {
			if mark := fmt.Sprintf("edition%d ", edition); !strings.Contains(h.Text, mark) {
				t.Fatalf("a hit of another edition than %d: %q", edition, h.Text)
			}
		}
	}
	return edition
}

// checkCommands checks that verify reports no problems after a kill and removes
// the leftovers, and that list shows only this database.
func (b *builder) checkCommands(t *testing.T) {
	t.Helper()
	if out, err := b.docsearch(t.Context(), "index", "verify", b.dir).CombinedOutput(); err != nil || !bytes.Contains(out, []byte(": valid; ")) {
		t.Fatalf("verify: %v\n%s", err, out)
	}
	b.checkNoIndexLeftovers(t)
	for _, d := range b.list(t) {
		if d.Name == "other" && d.Path == "/nowhere" {
			continue // already in the config before the build
		}
		if d.Path != b.dir || d.State != library.StateOK && d.State != library.StateStale {
			t.Fatalf("list shows %+v", d)
		}
	}
}

// list returns the output of list.
func (b *builder) list(t *testing.T) []machine.Info {
	t.Helper()
	out, err := b.docsearch(t.Context(), "list", "--json").Output()
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	var list []machine.Info
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// A killed first build leaves a valid database or none. Without a database,
// list and search show nothing, and the next build succeeds.
func TestKilledFirstBuild(t *testing.T) {
	for name, newBuilder := range map[string]func(*testing.T) *builder{
		"folder": folderBuilder, "site": siteBuilder, "archive": archiveBuilder,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(t)
			b.writeEdition(t, 0)
			took := b.build(t)
			kills := newKillTimes(t, 25)
			built := 0
			for i := range kills.rounds {
				if err := os.RemoveAll(b.dir); err != nil {
					t.Fatal(err)
				}
				b.kill(t, kills.after(i, took))
				if b.checkFirst(t) {
					built++
				}
				took = (3*took + b.build(t)) / 4
				b.check(t)
				b.checkNoLeftovers(t)
			}
			t.Logf("%d of %d builds had finished before the kill", built, kills.rounds)
		})
	}
}

// killTimes are the times at which a test kills its commands: a random one in each of
// equal parts of their usual duration, so that few rounds reach each part of the work, too.
type killTimes struct {
	rounds int
	rng    *rand.Rand
}

// shortRounds is the number of rounds without DOCSEARCH_NIGHTLY.
const shortRounds = 5

// newKillTimes returns times for a number of rounds in the nightly tests, and for
// shortRounds in others. The seed is logged.
func newKillTimes(t *testing.T, nightly int) *killTimes {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	k := &killTimes{shortRounds, rand.New(rand.NewPCG(seed, 0))}
	if os.Getenv("DOCSEARCH_NIGHTLY") != "" {
		k.rounds = nightly
	}
	return k
}

// after returns the time after which a command that usually takes this long is killed in a
// round. In the last one, it may have ended.
func (k *killTimes) after(round int, took time.Duration) time.Duration {
	return time.Duration((float64(round) + k.rng.Float64()) / float64(k.rounds) * 1.1 * float64(took))
}

// kill starts a build and kills it after a time.
func (b *builder) kill(t *testing.T, after time.Duration) {
	t.Helper()
	cmd := b.command(t.Context())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	cmd.Process.Kill() // fails if it has exited
	cmd.Wait()
}

// checkFirst checks that there is a valid database or none, and reports which.
func (b *builder) checkFirst(t *testing.T) bool {
	t.Helper()
	search, err := b.docsearch(t.Context(), "search", "doohickey7").CombinedOutput()
	list := b.list(t)
	switch {
	case len(list) == 0:
		if bytes.Contains(search, []byte("gadgets")) || bytes.Contains(search, []byte("docs:")) {
			t.Fatalf("search reports a database that never existed: %s", search)
		}
		if out, err := b.docsearch(t.Context(), "index", "verify").CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("verify: %v\n%s", err, out)
		}
		// Downloaded pages remain, and so may an empty folder.
		left, _ := filepath.Glob(filepath.Join(b.dir, "*"))
		inside, _ := filepath.Glob(filepath.Join(b.dir, generation.Folder, "*"))
		for _, path := range append(left, inside...) {
			if name := filepath.Base(path); name != ingest.MirrorName && name != generation.Folder && name != "build.lock" {
				t.Fatalf("left behind: %s", path)
			}
		}
		return false
	case len(list) > 1 || list[0].Path != b.dir || list[0].State != library.StateOK:
		t.Fatalf("list shows %+v", list)
	case err != nil:
		t.Fatalf("search: %v\n%s", err, search)
	}
	b.check(t)
	b.checkCommands(t)
	return true
}

// archiveBuilder builds a database from an archive.
func archiveBuilder(t *testing.T) *builder {
	data, root := t.TempDir(), t.TempDir()
	path := filepath.Join(root, "docs.zip")
	b := newBuilder(t, path, filepath.Join(data, "docs"), "DOCSEARCH_DATA="+data)
	b.writeEdition = func(t *testing.T, edition int) {
		var archive bytes.Buffer
		z := zip.NewWriter(&archive)
		for i := range editionSize[edition] {
			w, err := z.Create(fmt.Sprintf("docs/%d.md", i))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(w, "# Gadget %d\n\n%s\n", i, editionText(edition, i))
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, archive.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// A build killed at any time leaves the previous or the new index, and the next
// build succeeds.
func TestKilledBuild(t *testing.T) {
	for name, newBuilder := range map[string]func(*testing.T) *builder{
		"folder": folderBuilder, "leann": leannBuilder, "site": siteBuilder,
		"update of a folder": updating(folderBuilder), "update of a site": updating(siteBuilder), "archive": archiveBuilder,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(t)
			b.writeEdition(t, 0)
			took := b.build(t)
			kills := newKillTimes(t, 50)
			old, replaced := b.check(t), 0
			for i := range kills.rounds {
				b.writeEdition(t, 1-old)
				after := kills.after(i, took)
				b.kill(t, after)
				now := b.check(t)
				if now != old {
					replaced++
				}
				b.checkCommands(t)
				took = (3*took + b.build(t)) / 4
				if got := b.check(t); got != 1-old {
					t.Fatalf("kill %d after %v: the next build made edition %d, want %d", i, after, got, 1-old)
				}
				old = 1 - old
			}
			t.Logf("%d of %d builds had finished before the kill", replaced, kills.rounds)
			b.checkNoLeftovers(t)
		})
	}
}

// checkNoLeftovers checks that killed builds left no files behind.
func (b *builder) checkNoLeftovers(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(b.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && (strings.Contains(d.Name(), ".tmp-") || strings.HasSuffix(d.Name(), ".new")) {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.checkNoIndexLeftovers(t)
}

// checkNoIndexLeftovers checks the same for the index and the files published
// for LEANN.
func (b *builder) checkNoIndexLeftovers(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"*.new", ".*.tmp-*", filepath.Join(generation.Folder, ".*"), filepath.Join(ingest.MirrorName, "*.new")} {
		if left, err := filepath.Glob(filepath.Join(b.dir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
	generations, err := filepath.Glob(filepath.Join(b.dir, generation.Folder, "g*"))
	if err != nil || len(generations) != 1 {
		t.Errorf("generations %q, %v; want one", generations, err)
	}
}

// The second of two concurrent builds reports the first one, or waits for it.
func TestBuildsAtOnce(t *testing.T) {
	b := leannBuilder(t)
	b.writeEdition(t, 0)
	b.build(t)

	work, err := generation.Begin(b.dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.command(t.Context()).CombinedOutput()
	want := fmt.Sprintf("another build is running: process %d on ", os.Getpid())
	if err == nil || !bytes.Contains(out, []byte(want)) || !bytes.Contains(out, []byte("\nhint: pass --wait ")) {
		t.Errorf("while a build is at work: %v\n%swant %q and a hint", err, out, want)
	}
	work.Abort()

	b.writeEdition(t, 1)
	const builds = 4
	var all sync.WaitGroup
	for range builds {
		all.Go(func() {
			if out, err := b.command(t.Context(), "--wait", "10m").CombinedOutput(); err != nil {
				t.Errorf("a build that waits: %v\n%s", err, out)
			}
		})
	}
	// Searches succeed at any time, with results from one edition.
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		db, err := index.Open(b.dir)
		if err != nil {
			t.Fatal(err)
		}
		result, err := db.Search(t.Context(), index.Query{Text: "doohickey7"})
		if err != nil || len(result.Hits) == 0 {
			t.Fatalf("search while others build: %d hits, %v", len(result.Hits), err)
		}
		db.Close()
	}
	if got := b.check(t); got != 1 {
		t.Errorf("edition %d, want 1", got)
	}
	if g, err := generation.Current(b.dir); err != nil || g.Generation != fmt.Sprintf("g%06d", 1+builds) {
		t.Errorf("generation %s, %v; want one more for each build", g.Generation, err)
	}
	b.checkNoLeftovers(t)
}

// An interrupted build reports the interruption and leaves the previous index
// in place, unless it had already finished.
func TestInterruptedBuild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from outside there")
	}
	b := leannBuilder(t)
	b.writeEdition(t, 0)
	took := b.build(t)
	b.writeEdition(t, 1)
	for i := range 5 {
		r := b.interrupt(t, took*time.Duration(i)/5)
		edition := b.check(t)
		if r.err == nil && edition != 1 {
			t.Errorf("the build succeeded, and edition %d is current", edition)
		}
		if r.interrupted && !strings.HasPrefix(r.out, "docsearch: interrupted\nhint: ") {
			t.Errorf("interrupted, it says %q", r.out)
		}
	}
	b.build(t)
	b.checkNoLeftovers(t)
}

// An interruption is the end of a build after SIGINT.
type interruption struct {
	err         error // of the process
	out         string
	interrupted bool // it ended because of the signal, within the grace time
	forced      bool // it ended at the end of the grace time, without cleanup
}

// interrupt starts a build and sends it SIGINT after the delay.
func (b *builder) interrupt(t *testing.T, delay time.Duration) (r interruption) {
	t.Helper()
	cmd := b.command(t.Context())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay)
	signaled := time.Now()
	cmd.Process.Signal(os.Interrupt) // fails if it has exited
	r.err, r.out = cmd.Wait(), out.String()
	// A disk that others keep busy can hold up a build for longer than the grace time.
	r.forced = r.out == "docsearch: interrupted\n" && time.Since(signaled) >= graceTime
	r.interrupted = cmd.ProcessState.ExitCode() == exitInterrupted && !r.forced
	return r
}

// exitInterrupted is the exit code for a program that SIGINT ended, as in
// shells.
const exitInterrupted = 128 + 2

// An interrupted first build leaves no files and reports the interruption.
func TestInterruptedFirstBuild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from outside there")
	}
	b := folderBuilder(t)
	b.writeEdition(t, 0)
	took := b.build(t)
	interrupted := 0
	for i := range 10 {
		if err := os.RemoveAll(b.dir); err != nil {
			t.Fatal(err)
		}
		r := b.interrupt(t, took*time.Duration(i)/10)
		if r.err == nil {
			b.check(t)
			continue
		}
		if _, err := os.Lstat(b.dir); err == nil && !r.forced {
			t.Errorf("%s is still there", b.dir)
		}
		if r.interrupted {
			interrupted++
			if want := "docsearch: interrupted\nhint: nothing was built\n"; r.out != want {
				t.Errorf("interrupted, it says %q, want %q", r.out, want)
			}
		}
	}
	t.Logf("%d of 10 builds were interrupted", interrupted)
}
