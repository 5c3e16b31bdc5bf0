package project

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The cost of a file is proportional to its size, or the file is refused: four times the
// entries take about four times as much processor time. With a cost that grows with the
// square, they take sixteen times as much.
func TestCostIsProportional(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has costs of its own")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	now := func() time.Duration { // processor time of this thread
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	repeat := func(start, line, end string) func(n int) string {
		return func(n int) string {
			var b strings.Builder
			b.WriteString(start)
			for i := range n {
				b.WriteString(strings.ReplaceAll(line, "$", fmt.Sprint(i)))
			}
			return b.String() + end
		}
	}
	for name, file := range map[string]func(n int) string{
		"uv.lock":                   repeat("", "[[package]]\nname = \"p$\"\nversion = \"1.0.$\"\n", ""),
		"poetry.lock":               repeat("", "[p$]\nname = \"p\"\nversion = \"1.0\"\n", ""),
		"pylock.toml":               repeat("[[packages]]\n", "k$ = 1\n", ""),
		"Cargo.lock":                repeat("", "[[package]]\nname = \"p$\"\nversion = \"1.0.$\"\nsource = \"r\"\ndependencies = [\n \"a$\",\n]\n", ""),
		"go.mod":                    repeat("module x\nrequire (\n", "\texample.org/p$ v1.0.$\n", ")\n"),
		"go.mod, replacements":      repeat("module x\n", "require example.org/p$ v1.0.$\nreplace example.org/q$ => ../x\n", ""),
		"go.sum":                    repeat("", "example.org/p$ v1.0.$ h1:x=\n", ""),
		"package-lock.json":         repeat(`{"packages": {"": {}`, `,"node_modules/p$": {"version": "1.0.$"}`, "}}"),
		"package-lock.json, folder": repeat(`{"packages": {"`, "a/", `": {"dependencies": {"x": "1"}}}}`),
		"pnpm-lock.yaml":            repeat("packages:\n", "  p$@1.0.$:\n    resolution: {integrity: x}\n", ""),
		"pnpm-lock.yaml, folders":   repeat("importers:\n", "  f$:\n    dependencies:\n      p$: 1.0.$\n", ""),
		"yarn.lock":                 repeat("", "p$@^1.0.0:\n  version \"1.0.$\"\n\n", ""),
		"bun.lock":                  repeat(`{"packages": {"": []`, `,"p$": ["p$@1.0.0"]`, "}}"),
		"Gemfile.lock":              repeat("GEM\n  specs:\n", "    p$ (1.0.$)\n", ""),
		"requirements.txt":          repeat("", "p==1.0.$\n", ""),
		"pyproject.toml":            repeat("", "[dependency-groups.g$]\n", ""),
		"Cargo.toml":                repeat("", "[target.t$.dependencies]\n", ""),
		"mise.toml":                 repeat("", "[[tools.t$]]\nversion = \"1\"\n", ""),
		"pom.xml":                   repeat("<project><dependencies>", "<dependency><groupId>g</groupId><artifactId>a$</artifactId></dependency>", "</dependencies></project>"),
		"compose.yaml":              repeat("services:\n", "  s$: {image: p$}\n", ""),
		"compose.yml":               repeat("{", "s$, ", "}"),
		"pubspec.lock":              repeat("packages:\n", "  p$:\n    version: \"1.0.$\"\n", ""),
		"mix.lock":                  repeat("%{\n", "  \"p$\": {:hex, :p$, \"1.0.$\"},\n", "}"),
		"packages.lock.json":        repeat(`{"dependencies": {"net8.0": {"": {}`, `,"p$": {"type": "Direct", "resolved": "1.0.$"}`, "}}}"),
		".terraform.lock.hcl":       repeat("", "provider \"registry.terraform.io/a/p$\" {\n  version = \"1.0.$\"\n}\n", ""),
		"gradle.lockfile":           repeat("", "g:a$:1.0.$=x\n", ""),
	} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			base, _, _ := strings.Cut(name, ",")
			all := formats()
			i := slices.IndexFunc(all, func(f format) bool { ok, _ := filepath.Match(f.pattern, base); return ok })
			if i < 0 {
				t.Fatal("no format")
			}
			cost := func(n int) time.Duration {
				data := []byte(file(n))
				best := time.Duration(1<<63 - 1)
				for range 3 {
					began := now()
					found, _ := all[i].read(data, ".")
					for k := range found {
						found[k].Ecosystem = all[0].ecosystem
					}
					resolve(found)
					best = min(best, now()-began)
				}
				runtime.GC()
				return best
			}
			const small, factor, most = 4000, 4, 11
			var few, many time.Duration
			for range 5 { // other programs empty the processor's caches
				few, many = cost(small), cost(factor*small)
				if many <= most*max(few, 4*time.Millisecond) {
					return
				}
			}
			t.Errorf("%d entries take %v, %d times as many take %v", small, few, factor, many)
		})
	}
}
