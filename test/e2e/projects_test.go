//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/file/filetest"
)

// A projectQuestion is a line of testdata/projects/questions.txt.
type projectQuestion struct {
	project, pkg, query string
	headings            []string // parts of the headings that answer
}

func projectQuestions(t *testing.T) (all []projectQuestion) {
	t.Helper()
	for line := range strings.Lines(read(t, "testdata/projects/questions.txt")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if len(fields) == 4 {
			all = append(all, projectQuestion{fields[0], fields[1], fields[2], strings.Split(fields[3], "/")})
		}
	}
	if len(all) != 60 {
		t.Fatalf("%d questions, want 60", len(all))
	}
	return all
}

// TestProjects sets up three projects from nothing, with the packages that their package
// managers install: a web app, a Go service, and a program that uses Python packages of
// Debian. It measures the share of the dependencies with an answering database, the
// time, the size, and the answers to questions that were written before.
func TestProjects(t *testing.T) {
	questions := projectQuestions(t)
	found, denied, versioned, asked := 0, 0, 0, 0
	for _, p := range []struct {
		name    string
		install func(t *testing.T, dir string)
		limit   time.Duration // of two idle cores; 0: none
		share   float64       // of direct dependencies
	}{
		{"web", installWeb, time.Minute, .85},
		{"service", installService, 0, .85},
		{"tool", installTool, 0, 0},
	} {
		t.Run(p.name, func(t *testing.T) {
			u := newProjectUser(t)
			p.install(t, u.project)
			start := time.Now()
			out := u.docsearch(t, "setup", "--project", "--offline", "--yes", "--no-install")
			took, busy := time.Since(start), u.cpu/2 // other programs may keep the cores busy
			m := regexp.MustCompile(`(\d+) of (\d+) direct dependencies`).FindStringSubmatch(out)
			if m == nil {
				t.Fatalf("setup printed\n%s", out)
			}
			size := sizeOf(t, u.data)
			answering, all := u.answering(t)
			t.Logf("%s: %s of %s dependencies have a database, %d of %d answer; %s, %s of two cores, %.1f MB", p.name, m[1], m[2], answering, all, took.Round(100*time.Millisecond), busy.Round(100*time.Millisecond), float64(size)/1e6)
			if share := float64(answering) / float64(all); share < p.share {
				t.Errorf("%.2f of the direct dependencies have an answering database, want %.2f", share, p.share)
			}
			if p.limit > 0 && busy > p.limit {
				t.Errorf("setup takes %s of two cores, want at most %s", busy, p.limit)
			}
			for _, q := range questions {
				if q.project != p.name {
					continue
				}
				asked++
				rank, headings := u.rank(t, &q)
				if rank > 0 && rank <= 5 {
					found++
				} else {
					t.Logf("not found: %q; the first hits are %q", q.query, headings)
				}
				reason := u.deny(t, q.query)
				if reason == "" {
					t.Logf("not denied: %q", q.query)
					continue
				}
				denied++
				if u.quotesVersion(t, reason, q.pkg) {
					versioned++
				} else {
					t.Errorf("the denial of %q does not have the installed version: %s", q.query, reason)
				}
			}
		})
	}
	if asked == 0 {
		t.Skip("no project could be installed")
	}
	t.Logf("%d of %d questions found in the first five, %d denied, %d of them with the installed version", found, asked, denied, versioned)
	if float64(found) < .85*float64(asked) {
		t.Errorf("success@5 is %.2f, want .85", float64(found)/float64(asked))
	}
}

// A projectUser has a home of his own and a project.
type projectUser struct {
	home, project, data string
	env                 []string
	cpu                 time.Duration // that the last command used
}

func newProjectUser(t *testing.T) *projectUser {
	t.Helper()
	u := &projectUser{home: filetest.TempDir(t), project: filetest.TempDir(t)}
	u.data = filepath.Join(u.home, ".local", "share", "docsearch")
	if err := os.Mkdir(filepath.Join(u.project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	u.env = []string{"HOME=" + u.home, "PATH=" + os.Getenv("PATH"), "GOMODCACHE=" + strings.TrimSpace(string(modules)), "LANG=C.UTF-8"}
	return u
}

func (u *projectUser) command(t *testing.T, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = u.project, u.env, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if cmd.ProcessState != nil {
		u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		err = fmt.Errorf("docsearch %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), err
}

func (u *projectUser) docsearch(t *testing.T, args ...string) string {
	t.Helper()
	out, err := u.command(t, "", args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// answering counts the databases that answer a query about one of their own headings,
// and the direct dependencies.
func (u *projectUser) answering(t *testing.T) (n, all int) {
	t.Helper()
	var p struct {
		Dependencies []struct{ Ecosystem, Name, Database string }
	}
	if err := json.Unmarshal([]byte(u.docsearch(t, "project", "--json")), &p); err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Dependencies {
		if d.Ecosystem == "tool" {
			continue // the language itself
		}
		all++
		if d.Database == "" {
			t.Logf("no database for %s", d.Name)
			continue
		}
		short := strings.TrimPrefix(d.Name[strings.LastIndexByte(d.Name, '/')+1:], "@")
		if u.finds(t, d.Database, d.Name+" usage") || u.finds(t, d.Database, short+" options") || u.finds(t, d.Database, short+" install") {
			n++
		} else {
			t.Logf("%s answers nothing", d.Database)
		}
	}
	return n, all
}

// finds reports whether a search of the database has a result.
func (u *projectUser) finds(t *testing.T, database, query string) bool {
	t.Helper()
	out, err := u.command(t, "", "search", "--db", database, "--json", query)
	return err == nil && strings.Contains(out, `"id"`)
}

// rank returns the rank of the first hit below one of the headings, from 1, in a search of
// all databases, or 0.
func (u *projectUser) rank(t *testing.T, q *projectQuestion) (rank int, headings []string) {
	t.Helper()
	out, err := u.command(t, "", "search", "--json", "--top-k", "5", q.query)
	if err != nil {
		t.Logf("%v", err)
		return 0, nil
	}
	var found struct {
		Hits []struct {
			Title    string
			Headings []string
			Path     string
		}
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, h := range found.Hits {
		path := strings.Join(append([]string{h.Title}, h.Headings...), " > ")
		headings = append(headings, path)
		for _, want := range q.headings {
			if rank == 0 && strings.Contains(strings.ToLower(path), strings.ToLower(want)) {
				rank = i + 1
			}
		}
	}
	return rank, headings
}

// deny returns the reason with which the hook denies a web search, or "".
func (u *projectUser) deny(t *testing.T, query string) string {
	t.Helper()
	event, err := json.Marshal(map[string]any{
		"session_id": "s-" + strings.ReplaceAll(query, " ", "-"), "cwd": u.project, "hook_event_name": "PreToolUse", "tool_name": "WebSearch",
		"tool_input": map[string]string{"query": query},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, _ := u.command(t, string(event), "hook") // a denial has exit code 2
	var answer struct {
		HookSpecificOutput struct{ PermissionDecisionReason string }
	}
	if out == "" {
		return ""
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return answer.HookSpecificOutput.PermissionDecisionReason
}

// quotesVersion reports whether a reason contains the version of a package, as its database
// has it.
func (u *projectUser) quotesVersion(t *testing.T, reason, pkg string) bool {
	t.Helper()
	var p struct {
		Dependencies []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(u.docsearch(t, "project", "--json")), &p); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(p.Dependencies, func(d struct{ Name, Version string }) bool {
		return d.Version != "" && strings.Contains(strings.SplitN(reason, "\n", 2)[0], " "+d.Version)
	})
}

func sizeOf(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.WriteFile(to, []byte(read(t, from)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func installWeb(t *testing.T, dir string) {
	copyFile(t, "testdata/projects/web.json", filepath.Join(dir, "package.json"))
	runNPM(t, "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts")
}

func installService(t *testing.T, dir string) {
	copyFile(t, "testdata/projects/service.mod", filepath.Join(dir, "go.mod"))
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^require (\S+) (\S+)`).FindAllStringSubmatch(read(t, "testdata/projects/service.mod"), -1) {
		modules = append(modules, m[1]+"@"+m[2])
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"mod", "download"}, modules...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("skipped: cannot download modules: %v\n%s", err, out)
	}
}

// installTool pins the versions that Debian has installed.
func installTool(t *testing.T, dir string) {
	const packages = "/usr/lib/python3/dist-packages"
	var lines []string
	for name := range strings.FieldsSeq(read(t, "testdata/projects/tool.txt")) {
		found, _ := filepath.Glob(filepath.Join(packages, name+"-*-info"))
		if len(found) == 0 {
			t.Skipf("skipped: %s is not installed in %s", name, packages)
		}
		m := regexp.MustCompile(`-([0-9][^-]*)\.(?:dist|egg)-info$`).FindStringSubmatch(found[0])
		if m == nil {
			t.Fatalf("no version in %s", found[0])
		}
		lines = append(lines, name+"=="+m[1])
	}
	if err := os.WriteFile(filepath.Join(dir, "requirements.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
