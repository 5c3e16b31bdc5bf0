//go:build e2e && linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkInstalledHook starts the hook of each way to install docsearch, at the path that
// "docsearch install" writes or the plugin contains, for a search that no database matches.
// It alternates with an empty Go program. The limit of x-empty, the ratio of the medians, is
// 2.0. The cache of the system affects the time: "installed" finds the programs' pages there
// as the installer wrote them, and "restarted" as the first start read them.
func BenchmarkInstalledHook(b *testing.B) {
	for _, way := range []struct {
		name    string
		install func(testing.TB) (program string)
	}{
		{"make-install", func(b testing.TB) string {
			prefix := b.TempDir()
			runTool(b, "make", "-C", root(b), "install", "PREFIX="+prefix)
			return settingsProgram(b, filepath.Join(prefix, "bin", "docsearch"))
		}},
		{"archive", func(b testing.TB) string {
			prefix := b.TempDir()
			runTool(b, "tar", "-C", prefix, "-xzf", released(b, "docsearch_*_linux_"+runtime.GOARCH+".tar.gz"), "bin")
			return settingsProgram(b, filepath.Join(prefix, "bin", "docsearch"))
		}},
		{"deb", func(b testing.TB) string {
			system := b.TempDir()
			for _, name := range []string{"status", "info/format", "updates/0000", "triggers/Lock"} {
				file := filepath.Join(system, "var/lib/dpkg", name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(system, "var/lib/dpkg/status"), nil, 0o644); err != nil {
				b.Fatal(err)
			}
			runTool(b, "dpkg", "--root="+system, "--force-not-root", "--install", released(b, "docsearch_*_"+runtime.GOARCH+".deb"))
			return settingsProgram(b, filepath.Join(system, "usr", "bin", "docsearch"))
		}},
		{"npm", func(b testing.TB) string {
			u := newNPMUser(b, startRegistry(b))
			u.run(b, u.home, "npm", "install", "-g", "docsearch-cli")
			return u.installedHook(b)
		}},
		{"npm-without-scripts", func(b testing.TB) string {
			u := newNPMUser(b, startRegistry(b))
			u.run(b, u.home, "npm", "install", "-g", "--ignore-scripts", "docsearch-cli")
			return u.installedHook(b)
		}},
		{"npx", func(b testing.TB) string {
			u := newNPMUser(b, startRegistry(b))
			u.run(b, u.home, "npx", "--yes", "docsearch-cli", "version")
			u.run(b, u.home, "npx", "--yes", "docsearch-cli", "install", "--client", "claude")
			return u.hookProgram(b)
		}},
		{"plugin", func(b testing.TB) string {
			folder := b.TempDir()
			runTool(b, "unzip", "-q", "-d", folder, released(b, "docsearch-plugin_*_linux_"+runtime.GOARCH+".zip"))
			return filepath.Join(folder, "bin", "docsearch-hook")
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			program := way.install(b)
			b.Run("installed", func(b *testing.B) { compareHook(b, program, emptyProgram(b)) })
			b.Run("restarted", func(b *testing.B) {
				empty := emptyProgram(b)
				dropCache(b, program)
				dropCache(b, empty)
				compareHook(b, program, empty)
			})
		})
	}
}

// compareHook reports the time of the hook of a program, and its ratio to the time of an
// empty program.
func compareHook(b *testing.B, program, empty string) {
	hook := newHookRun(b, program)
	var hooks, empties []time.Duration
	for b.Loop() {
		empties = append(empties, hook.time(b, empty))
		hooks = append(hooks, hook.time(b, hook.program))
	}
	slices.Sort(hooks)
	slices.Sort(empties)
	median, base := hooks[len(hooks)/2], empties[len(empties)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median)/float64(time.Millisecond), "p50-ms")
	b.ReportMetric(float64(base)/float64(time.Millisecond), "empty-ms")
	b.ReportMetric(float64(median)/float64(base), "x-empty")
}

// dropCache drops the pages of a file from the cache of the system. The next start reads
// them from the disk by page faults, as the first start after a restart of the machine.
func dropCache(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // the system keeps pages that it has not written
		b.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		b.Fatal(err)
	}
	var cached unix.Cachestat_t
	switch err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &cached, 0); {
	case errors.Is(err, unix.ENOSYS):
		b.Skip("Linux before 6.5 does not report cached pages")
	case err != nil:
		b.Fatal(err)
	case cached.Cache > 0:
		b.Skipf("%d pages of %s are in use", cached.Cache, path)
	}
}

// emptyProgram compiles an empty Go program and copies it, as an installer does.
func emptyProgram(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	runTool(b, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", source+".built", source)
	program := filepath.Join(dir, "empty")
	if err := os.WriteFile(program, []byte(read(b, source+".built")), 0o755); err != nil {
		b.Fatal(err)
	}
	return program
}

// settingsProgram installs the hook of a docsearch for a new user and returns the path of
// its program in the settings.
func settingsProgram(b testing.TB, docsearch string) string {
	b.Helper()
	home := b.TempDir()
	u := &npmUser{home: home, env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	u.run(b, home, docsearch, "install", "--client", "claude")
	return u.hookProgram(b)
}

// installedHook installs the hook and returns the path of its program.
func (u *npmUser) installedHook(b testing.TB) string {
	b.Helper()
	u.run(b, u.home, "docsearch", "install", "--client", "claude")
	return u.hookProgram(b)
}

// A hookRun runs the hook of a program in its own home.
type hookRun struct {
	program, event string
	env            []string
}

// newHookRun returns a hook with fifteen databases, and the snapshot of their config.
func newHookRun(b *testing.B, program string) *hookRun {
	b.Helper()
	home := b.TempDir()
	h := &hookRun{
		program: program,
		event:   `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"WebSearch","tool_input":{"query":"how to cook rice"}}`,
		env:     []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")},
	}
	var databases []string
	for i := range 15 {
		databases = append(databases, fmt.Sprintf(`{"keywords": ["keyword%[1]da", "keyword%[1]db", "keyword%[1]dc", "two words %[1]d", "c++%[1]d"],
			"path": "/docs/database%[1]d", "mcp_tool_name": "mcp__leann__search", "description": "Documentation of the product number %[1]d"}`, i))
	}
	config := filepath.Join(home, ".claude", "hooks", "docsearch-config.json")
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(`{"databases": [`+strings.Join(databases, ", ")+`]}`), 0o644); err != nil {
		b.Fatal(err)
	}
	snapshots := func() []string {
		found, err := filepath.Glob(filepath.Join(home, ".cache", "docsearch", "*.snapshot"))
		if err != nil {
			b.Fatal(err)
		}
		return found
	}
	for range 100 { // the hook writes a snapshot of a config that has not changed for a moment
		if h.time(b, program); len(snapshots()) > 0 {
			return h
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Fatal("the hook wrote no snapshot")
	return nil
}

// time returns how long a program takes for the event.
func (h *hookRun) time(b *testing.B, program string) time.Duration {
	cmd := exec.Command(program, "hook")
	cmd.Env, cmd.Stdin = h.env, strings.NewReader(h.event)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	elapsed := time.Since(start)
	if err != nil || len(out) > 0 {
		b.Fatalf("%v: %s", err, out)
	}
	return elapsed
}
