package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
)

// BenchmarkHook runs the hook as clients do, one process per event, alternating
// with an empty Go program. Whole-process times vary between machines and over
// time; x-empty, the ratio of the medians, hardly does. Its limits are 2.0 if
// there is nothing to do, 2.2 for a redirect, 3.5 for an answer from 20,000
// passages, and 3.5 for a call with 200 rules and 5,000 passages of notes to
// search.
func BenchmarkHook(b *testing.B) {
	database := func(passages int, more string) string {
		dir := indextest.Database(b, passages)
		lowerThreshold(b, dir)
		path, err := json.Marshal(dir)
		if err != nil {
			b.Fatal(err)
		}
		return `{"databases": [{"keywords": ["registry"], "path": ` + string(path) + `, "description": "Registry documentation"` + more
	}
	notes := func() string { return database(5000, `, "inject": true}], "routes": {`+manyRules(200)+`}}`) }
	rules := func() string { return `{"databases": [], "routes": {` + manyRules(200) + `}}` }
	// many has 200 databases of packages, and the snapshot of a project that uses 40 of them.
	many := func() string {
		dir := indextest.Database(b, 20_000)
		lowerThreshold(b, dir)
		return packageDatabases(b, 200, dir)
	}
	const (
		ruled = `"tool_name":"Bash","tool_input":{"command":"  tool150 describe pods"}`
		bash  = `"tool_name":"Bash","tool_input":{"command":"zymotic rotate --force","description":"Rotate the signing certificate of the registry"}`
		edit  = `"tool_name":"Edit","tool_input":{"file_path":"/p/registry/certificate.go","old_string":"a","new_string":"zymotic.Rotate(registry, signing.Certificate)"}`
	)
	call := func(input string) func(string) string {
		return func(session string) string {
			return `{"session_id":"` + session + `","cwd":"/p","hook_event_name":"PreToolUse",` + input + `}`
		}
	}
	search := func(query string) func(string) string {
		return func(session string) string { return webSearch(session, query) }
	}
	for _, bench := range []struct {
		name   string
		config func() string
		event  func(session string) string
		code   int
		says   string // expected on stdout
		client string
	}{
		{"no-match", fifteenDatabases, search("how to cook rice"), 0, "", ""},
		{"redirect", fifteenDatabases, search("keyword7b settings"), 2, `"deny"`, ""},
		{"answer-20000", func() string { return database(20_000, "}]}") }, search(indextest.Question), 2, `"deny"`, ""},
		{"named-no-match", fifteenDatabases, search("how to cook rice"), 0, "", "codex"},
		{"named-answer-20000", func() string { return database(20_000, "}]}") }, search(indextest.Question), 0, `"deny"`, "codex"},
		{"no-match-200", many, search("how to cook rice"), 0, "", ""},
		{"answer-200", many, search(indextest.Question), 2, `"deny"`, ""},
		{"no-match-200-project", many, search("how to cook rice"), 0, "", ""},
		{"answer-200-project", many, search(indextest.Question), 2, `"deny"`, ""},
		{"bash-200-project", many, call(bash), 0, "", ""},
		{"bash-nothing", fifteenDatabases, call(bash), 0, "", ""},
		{"edit-nothing", fifteenDatabases, call(edit), 0, "", ""},
		{"bash-rules-200", rules, call(bash), 0, "", ""},
		{"bash-rule-denies", rules, call(ruled), 2, `"deny"`, ""},
		{"bash-notes-5000", notes, call(bash), 0, "additionalContext", ""},
		{"edit-notes-5000", notes, call(edit), 0, "additionalContext", ""},
	} {
		b.Run(bench.name, func(b *testing.B) {
			h := newHookHome(b, bench.config())
			h.client = bench.client
			if strings.HasSuffix(bench.name, "-project") {
				h.writeProject(200)
			}
			for i := range 3 { // the first runs write snapshots
				r := h.run(bench.event("warm-" + strconv.Itoa(i)))
				if r.code != bench.code || !strings.Contains(r.stdout, bench.says) || bench.says == "" && r.stdout != "" {
					b.Fatalf("code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
				}
			}
			empty := filepath.Join(binary(b), executable("empty"))
			var hooks, empties []time.Duration
			n := 0
			for b.Loop() {
				event := bench.event("session-" + strconv.Itoa(n))
				if n++; n%20 == 0 {
					h.forget()
				}
				base := h.command()
				base.Path = empty
				empties = append(empties, timed(b, base, event))
				cmd := h.command()
				hooks = append(hooks, timed(b, cmd, event))
				if got := cmd.ProcessState.ExitCode(); got != bench.code {
					b.Fatalf("code %d", got)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(milliseconds(median(hooks)), "p50-ms")
			b.ReportMetric(milliseconds(median(empties)), "empty-ms")
			b.ReportMetric(milliseconds(median(hooks))/milliseconds(median(empties)), "x-empty")
		})
	}
}

// manyRules returns n rules that do not match.
func manyRules(n int) string {
	var rules []string
	for i := range n {
		k := strconv.Itoa(i)
		rules = append(rules, `"rule-`+k+`": {"command_pattern": "^\\s*tool`+k+`\\s+(get|describe)\\s+\\w+", "message": "Use the other tool `+k+`."}`)
	}
	return strings.Join(rules, ", ")
}

// lowerThreshold sets the confidence threshold to 0. Its calibration on
// synthetic text is not the subject of the benchmark.
func lowerThreshold(b *testing.B, dir string) {
	indextest.ChangeManifest(b, dir, func(m *generation.Manifest) { m.Confidence.Threshold = 0 })
}

// forget removes the session states. In practice, few states are as recent as
// those of a benchmark.
func (h *hookHome) forget() {
	if err := os.RemoveAll(filepath.Join(filepath.Dir(h.config), "docsearch-denials")); err != nil {
		h.tb.Fatal(err)
	}
}

// fifteenDatabases returns a config of realistic size.
func fifteenDatabases() string {
	var b strings.Builder
	b.WriteString(`{"databases": [`)
	for i := range 15 {
		if i > 0 {
			b.WriteString(", ")
		}
		n := strconv.Itoa(i)
		b.WriteString(`{"keywords": ["keyword` + n + `a", "keyword` + n + `b", "keyword` + n + `c", "two words ` + n + `", "c++` + n + `"],
			"path": "` + rootPath() + `docs/database` + n + `", "mcp_tool_name": "mcp__leann__search", "description": "Documentation of the product number ` + n + `"}`)
	}
	return b.String() + "]}"
}

func timed(b *testing.B, cmd *exec.Cmd, event string) time.Duration {
	cmd.Stdin = strings.NewReader(event)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// packageDatabases returns a config of n databases of packages, two versions each. The
// first two have the index in dir.
func packageDatabases(b *testing.B, n int, dir string) string {
	var all []map[string]any
	for i := range n {
		name, path := "package"+strconv.Itoa(i/2), dir
		keywords := []string{name, "@scope/" + name, "scope " + name}
		if i < 2 {
			keywords = append(keywords, "registry")
		} else {
			path = filepath.Join(dir, name)
		}
		version := strconv.Itoa(1+i%2) + ".4.2"
		all = append(all, map[string]any{
			"name": name + "-" + version, "keywords": keywords, "path": path, "description": name + " documentation",
			"version": version, "packages": []string{"node:@scope/" + name},
		})
	}
	data, err := json.Marshal(map[string]any{"databases": all})
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

// writeProject writes the snapshot of a project that uses 40 of n packages, and 60 others.
func (h *hookHome) writeProject(n int) {
	s := config.ProjectSnapshot{Folder: "/p"}
	for i := range 100 {
		s.Uses = append(s.Uses, config.Use{Software: "node:@scope/package" + strconv.Itoa(i*n/80), Versions: []string{"1.4.2"}, Direct: true})
	}
	if err := s.Write(h.locations()); err != nil {
		h.tb.Fatal(err)
	}
}

// locations returns the locations of the home's files.
func (h *hookHome) locations() config.Locations {
	return config.Locate(func(name string) string {
		for _, v := range h.env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	})
}
