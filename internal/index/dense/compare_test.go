//go:build compare && linux

package dense

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
)

// TestCompare compares Search with hnswlib and faiss on the same vectors, each on
// one thread, and prints recall and CPU time. COMPARE_LARGE=1 adds a million
// vectors, which takes a quarter of an hour. COMPARE_DIR is a folder that keeps
// vectors and graphs for the next run.
func TestCompare(t *testing.T) {
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Skip("skipped: needs /usr/bin/python3 with hnswlib and faiss")
	}
	if out, err := exec.Command(python, "-c", "import hnswlib, faiss, numpy").CombinedOutput(); err != nil {
		t.Skipf("skipped: needs python3-hnswlib and python3-faiss: %s", out)
	}
	folder := os.Getenv("COMPARE_DIR")
	if folder == "" {
		folder = t.TempDir()
	}
	for _, set := range []struct {
		name    string
		make    func() vectorList
		engines []engine
		large   bool
	}{
		{"topical-93000", func() vectorList { return topicMixtures(93_000, 256) },
			[]engine{{"hnswlib", 16}, {"hnswlib", 32}, {"faiss", 32}}, false},
		{"hard-50000", func() vectorList { return randomClusters(50_000, 256, 0.7) },
			[]engine{{"hnswlib", 16}}, false},
		{"copies-40000", func() vectorList { return copies(40_000, 256) },
			[]engine{{"hnswlib", 16}, {"hnswlib", 32}, {"faiss", 32}}, false},
		{"topical-1000000", func() vectorList { return topicMixtures(1_000_000, 256) },
			[]engine{{"hnswlib", 16}}, true},
	} {
		t.Run(set.name, func(t *testing.T) {
			if set.large && os.Getenv("COMPARE_LARGE") == "" {
				t.Skip("skipped: COMPARE_LARGE is not set")
			}
			c := newComparison(t, python, filepath.Join(folder, set.name), set.make())
			for _, e := range set.engines {
				c.run(t, e)
			}
		})
	}
}

// copies makes vectors of which 30% are duplicates, in groups of 500, like the
// boilerplate of documentation.
func copies(n, dimensions int) vectorList {
	l := topicMixtures(n, dimensions)
	for i := range n * 3 / 10 {
		l[i] = l[i/500*500]
	}
	rng := rand.New(rand.NewPCG(5, 6))
	rng.Shuffle(n, func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}

type engine struct {
	name string
	m    int
}

// A comparison has the vectors, in memory and on disk, and the ground truth.
type comparison struct {
	python, dir string
	units       matrix
	queries     [][]float32
	minScores   []float32 // cosine of each query's tenth neighbor
	x           *Index
}

const (
	compareQueries = 400
	compareRounds  = 7
)

func newComparison(t *testing.T, python, dir string, l vectorList) *comparison {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := &comparison{python: python, dir: dir, units: newMatrix(len(l), l.Dimensions())}
	for i, v := range l {
		unit(c.units.row(i), v)
	}
	sample := queries(l, compareQueries, 0.3)
	flat := newMatrix(len(sample), l.Dimensions())
	for i, q := range sample {
		unit(flat.row(i), q)
		c.queries = append(c.queries, flat.row(i))
	}
	c.minScores = make([]float32, len(sample))
	if err := parallel.Ranges(t.Context(), len(sample), 1, func(from, to int) error {
		for i := from; i < to; i++ {
			c.minScores[i] = flatSearch(c.units, c.queries[i], 10)[9].Score
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c.write(t, "vectors.f32", c.units)
	c.write(t, "queries.f32", flat)
	meta := fmt.Sprintf(`{"vectors": %d, "dimensions": %d}`, len(l), l.Dimensions())
	if err := os.WriteFile(filepath.Join(dir, "meta.json"), []byte(meta), 0o644); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(dir, "vectors.bin")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	start := time.Now()
	// Calibrate with other queries than those of the comparison.
	stats, err := Build(t.Context(), confined.Of(path), l, Options{Queries: queries(l, 300, 0.3)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("docsearch: built in %.1f s, %d lists, %d copies, nprobe %d, %d candidates, recall measured by the build %.4f",
		time.Since(start).Seconds(), stats.Lists, stats.Copies, stats.NProbe, stats.Candidates, stats.Recall.Value)
	opened := time.Duration(math.MaxInt64)
	for range 20 {
		start := time.Now()
		if c.x, err = Open(confined.Of(path)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.x.loadCentroids(); err != nil {
			t.Fatal(err)
		}
		opened = min(opened, time.Since(start))
		x := c.x
		t.Cleanup(func() { x.Close() })
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("docsearch: opened, graph imported in %.1f ms, %d MB", milliseconds(opened), st.Size()>>20)
	return c
}

func (c *comparison) write(t *testing.T, name string, m matrix) {
	t.Helper()
	f, err := os.Create(filepath.Join(c.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var b [4]byte
	for _, x := range m.data {
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(x))
		w.Write(b[:])
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// run times the engine and Search alternately, so that both see the same load,
// and prints the shortest times at equal recall.
func (c *comparison) run(t *testing.T, e engine) {
	t.Helper()
	cmd := exec.Command(c.python, filepath.Join("testdata", "peers.py"), c.dir, e.name, strconv.Itoa(e.m))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peer := &peer{t, in, json.NewDecoder(out)}
	var built struct {
		Built float64
		Bytes int64
	}
	peer.read(&built)
	t.Logf("%s M=%d: built or loaded in %.1f s, %d MB", e.name, e.m, built.Built, built.Bytes>>20)

	efs := []int{16, 32, 64, 128, 256, 512, 1024}
	own, ownRecall := math.Inf(1), 0.0
	times, recalls := make([]float64, len(efs)), make([]float64, len(efs))
	for round := range compareRounds {
		for i, ef := range efs {
			seconds, found := peer.search(ef)
			if round == 0 || seconds < times[i] {
				times[i] = seconds
			}
			recalls[i] = c.recall(found)
			seconds, found = c.search(t)
			own, ownRecall = min(own, seconds), c.recall(found)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	each := func(seconds float64) float64 { return 1000 * seconds / float64(len(c.queries)) }
	t.Logf("docsearch: recall %.4f in %.3f ms", ownRecall, each(own))
	for i, ef := range efs {
		t.Logf("%s M=%d ef=%d: recall %.4f in %.3f ms", e.name, e.m, ef, recalls[i], each(times[i]))
	}
	for i := range efs {
		if recalls[i] < ownRecall {
			continue
		}
		at := times[i]
		if i > 0 && recalls[i] > recalls[i-1] { // interpolate
			at = times[i-1] + (times[i]-times[i-1])*(ownRecall-recalls[i-1])/(recalls[i]-recalls[i-1])
		}
		t.Logf("=> docsearch takes %.2f times as long as %s M=%d at recall %.4f (%.3f ms)", own/at, e.name, e.m, ownRecall, each(at))
		return
	}
	t.Logf("=> %s M=%d does not reach recall %.4f", e.name, e.m, ownRecall)
}

func (c *comparison) search(t *testing.T) (seconds float64, found [][]int) {
	t.Helper()
	all := make([][]Hit, len(c.queries))
	start := processorTime(t)
	for i, q := range c.queries {
		hits, err := c.x.Search(q, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = hits
	}
	seconds = processorTime(t) - start
	found = make([][]int, len(all))
	for i, hits := range all {
		for _, h := range hits {
			found[i] = append(found[i], int(h.Passage))
		}
	}
	return seconds, found
}

// processorTime returns the CPU time of this process in seconds.
func processorTime(t *testing.T) float64 {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &at); err != nil {
		t.Fatal(err)
	}
	return float64(at.Nano()) / 1e9
}

// recall counts the results that are as near as the tenth neighbor, so any of
// several duplicates counts.
func (c *comparison) recall(found [][]int) float64 {
	n := 0
	for i, list := range found {
		for _, p := range list {
			if p >= 0 && vecmath.Dot(c.queries[i], c.units.row(p)) >= c.minScores[i]-scoreTolerance {
				n++
			}
		}
	}
	return float64(n) / float64(10*len(found))
}

// A peer is a running peers.py.
type peer struct {
	t   *testing.T
	in  io.Writer
	out *json.Decoder
}

func (p *peer) read(v any) {
	p.t.Helper()
	if err := p.out.Decode(v); err != nil {
		p.t.Fatalf("peers.py: %v", err)
	}
}

func (p *peer) search(ef int) (seconds float64, found [][]int) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, "{\"ef\": %d}\n", ef); err != nil {
		p.t.Fatal(err)
	}
	var answer struct {
		Seconds float64
		Found   [][]int
	}
	p.read(&answer)
	return answer.Seconds, answer.Found
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
