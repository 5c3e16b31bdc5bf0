package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index/indextest"
)

// BenchmarkSearchCommand measures "docsearch search" from process start to
// exit, alternating with an empty Go program. The limit with 36,000 passages is
// 25 ms.
func BenchmarkSearchCommand(b *testing.B) {
	programs, dir := binary(b), indextest.Database(b, 36_000)
	env := serveEnv(b)
	queries := indextest.Queries(100)
	var times, empties []time.Duration
	for b.Loop() {
		empties = append(empties, timed(b, exec.Command(filepath.Join(programs, executable("empty"))), ""))
		cmd := exec.Command(filepath.Join(programs, executable("docsearch")), "search", "--path", dir, queries[len(times)%len(queries)])
		cmd.Env = append(os.Environ(), env...)
		times = append(times, timed(b, cmd, ""))
		if out := cmd.Stdout.(*bytes.Buffer).String(); !strings.Contains(out, "docs.example.org") {
			b.Fatalf("no hits: %s", out)
		}
	}
	b.ReportMetric(milliseconds(median(times))/milliseconds(median(empties)), "x-empty")
	reportPercentiles(b, times)
}
