package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkIndexUpdate runs "docsearch update" as a process after adding
// a sentence to 100 of 10,000 pages. The target is a twentieth of the time of a
// full build.
func BenchmarkIndexUpdate(b *testing.B) {
	const pages, edited = 10_000, 100
	dir := b.TempDir()
	contents := generateManual(pages)
	write := func(path, page string) {
		name := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for path, page := range contents {
		if strings.HasSuffix(path, ".html") {
			write(path, page)
		}
	}
	program := filepath.Join(binary(b), executable("docsearch"))
	env := append(os.Environ(), serveEnv(b)...)
	var wall, processor [2]time.Duration // of builds and of updates
	run := func(kind int, want string, args ...string) {
		cmd := exec.CommandContext(b.Context(), program, args...)
		cmd.Env = env
		start := time.Now()
		out, err := cmd.CombinedOutput()
		wall[kind] += time.Since(start)
		if err != nil || !strings.Contains(string(out), want) {
			b.Fatalf("%s: %v\n%s", args, err, out)
		}
		processor[kind] += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	round := 0
	for b.Loop() {
		round++
		run(0, "", "index", "build", dir, "--name", "manual", "--quiet")
		for i := range edited {
			path := fmt.Sprintf("/manual/chapter-%d/page-%d.html", i, 100*i+round%100)
			contents[path] = strings.Replace(contents[path], ", see <a", ". This is one sentence more, see <a", 1)
			write(path, contents[path])
		}
		run(1, fmt.Sprintf("%d changed", edited), "update", "manual")
	}
	b.ReportMetric(0, "ns/op")
	for i, kind := range []string{"build", "update"} {
		b.ReportMetric(wall[i].Seconds()/float64(b.N), kind+"-s")
		b.ReportMetric(processor[i].Seconds()/float64(b.N), kind+"-processor-s")
	}
	b.ReportMetric(wall[1].Seconds()/wall[0].Seconds(), "update/build")
}
