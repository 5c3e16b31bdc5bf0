package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index/indextest"
)

// BenchmarkIndexBuild runs "docsearch index build" as a process. It reports
// wall time, CPU time, peak memory, and index size relative to the text.
// DOCSEARCH_BENCH_LARGE adds a million passages, for which the limit is 4 GB.
func BenchmarkIndexBuild(b *testing.B) {
	sizes := []int{10_000, 36_000}
	if os.Getenv("DOCSEARCH_BENCH_LARGE") != "" {
		sizes = append(sizes, 300_000, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			indextest.Passages(b, dir, n)
			var t buildStats
			for b.Loop() {
				t = buildStats{}
				t.build(b, serveEnv(b), dir)
			}
			t.report(b)
		})
	}
}

// BenchmarkIndexBuildDocs builds the documentation that make eval downloads,
// seven sets of HTML pages, one after another. Targets on two idle cores: 10 s,
// 600 MB, and an index of 0.8 times the text.
func BenchmarkIndexBuildDocs(b *testing.B) {
	docs := os.Getenv("DOCSEARCH_EVAL_DOCS")
	if docs == "" {
		b.Skip("DOCSEARCH_EVAL_DOCS names no documentation to build from")
	}
	var t buildStats
	for b.Loop() {
		t = buildStats{}
		env := serveEnv(b)
		for set, exclude := range map[string][]string{
			"python": {"faq", "contents.html"}, "postgresql": nil, "django": {"faq", "contents.html"},
			"git": {"gitfaq.html", "RelNotes"}, "sqlite": {"faq.html", "keyword_index*", "sitemap*", "matrix*"},
			"nodejs": {"all.html"}, "cmake": {"/release"},
		} {
			args := []string{filepath.Join(docs, set), "--name", set, "--include", "*.html", "--exclude", "_*"}
			for _, pattern := range exclude {
				args = append(args, "--exclude", pattern)
			}
			t.build(b, env, args...)
		}
	}
	t.report(b)
}

// A buildStats is the sum over several builds, except for memory, which is the
// maximum.
type buildStats struct {
	wallTime, cpuTime       time.Duration
	memory, textBytes, size int64
}

func (t *buildStats) build(b *testing.B, env []string, args ...string) {
	b.Helper()
	program := filepath.Join(binary(b), executable("docsearch"))
	run := func(args ...string) ([]byte, *os.ProcessState) {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%s: %v", args, err)
		}
		return out, cmd.ProcessState
	}
	start := time.Now()
	_, state := run(append([]string{"index", "build", "--quiet"}, args...)...)
	t.wallTime += time.Since(start)
	t.cpuTime += state.UserTime() + state.SystemTime()
	t.memory = max(t.memory, peakMemory(state))
	name := args[0]
	if len(args) > 1 {
		name = args[2]
	}
	out, _ := run("index", "info", "--json", name)
	var info struct {
		Text int64 `json:"text_bytes"`
		Size int64 `json:"index_bytes"`
	}
	if err := json.Unmarshal(out, &info); err != nil {
		b.Fatal(err)
	}
	t.textBytes += info.Text
	t.size += info.Size
}

func (t *buildStats) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(t.wallTime.Seconds(), "s")
	b.ReportMetric(t.cpuTime.Seconds(), "processor-s")
	if t.memory > 0 {
		b.ReportMetric(float64(t.memory)/(1<<20), "MB")
	}
	b.ReportMetric(float64(t.size)/float64(t.textBytes), "index/text")
}
