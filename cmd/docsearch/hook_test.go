package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index/indextest"
)

// builtBinaries holds the binaries under test, compiled like a release, once
// for all tests.
var builtBinaries struct {
	once sync.Once
	dir  string
	err  error
}

// binary builds docsearch, docsearch-hook, and an empty program for comparison, and
// returns the folder that contains them.
func binary(tb testing.TB) string {
	tb.Helper()
	builtBinaries.once.Do(func() {
		if builtBinaries.dir, builtBinaries.err = os.MkdirTemp("", "docsearch-test-"); builtBinaries.err != nil {
			return
		}
		if builtBinaries.err = os.Chmod(builtBinaries.dir, 0o755); builtBinaries.err != nil {
			return
		}
		empty := filepath.Join(builtBinaries.dir, "empty.go")
		if builtBinaries.err = os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o644); builtBinaries.err != nil {
			return
		}
		for name, source := range map[string]string{"docsearch": ".", "docsearch-hook": "../docsearch-hook", "empty": empty} {
			program := filepath.Join(builtBinaries.dir, executable(name))
			cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program+".built", source)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				builtBinaries.err = fmt.Errorf("%s: %w\n%s", cmd, err, out)
				return
			}
			if builtBinaries.err = copyAsInstalled(program+".built", program); builtBinaries.err != nil {
				return
			}
		}
	})
	if builtBinaries.err != nil {
		tb.Fatal(builtBinaries.err)
	}
	return builtBinaries.dir
}

// copyAsInstalled copies a program, as installers do. The linker writes through
// a memory mapping, so until the file is read from disk again, it is cached in
// single pages, and a large program takes 0.1 to 0.4 ms longer to start.
func copyAsInstalled(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		return err
	}
	return os.Remove(from)
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// A hookHome is a home directory in which hooks run as real processes.
type hookHome struct {
	program string // path of the program; empty: docsearch
	client  string // --client of its commands; empty: none
	tb      testing.TB
	dir     string
	config  string // path of the config file
	env     []string
}

// redirectConfig lists databases that another server searches.
var redirectConfig = `{
  "databases": [
    {"keywords": ["gitlab", "gl"], "path": "` + rootPath() + `docs/gitlab", "mcp_tool_name": "mcp__leann__search", "description": "GitLab documentation"},
    {"keywords": ["kubernetes", "k8s"], "path": "` + rootPath() + `docs/kubernetes", "mcp_tool_name": "mcp__leann__search", "description": "Kubernetes documentation"}
  ]
}`

// rootPath returns the beginning of an absolute path.
func rootPath() string {
	if runtime.GOOS == "windows" {
		return "C:/"
	}
	return "/"
}

func newHookHome(tb testing.TB, config string) *hookHome {
	tb.Helper()
	h := &hookHome{tb: tb, dir: tb.TempDir()}
	h.config = filepath.Join(h.dir, ".claude", "hooks", "docsearch-config.json")
	if err := os.MkdirAll(filepath.Dir(h.config), 0o755); err != nil {
		tb.Fatal(err)
	}
	if config != "" {
		h.configure(config)
	}
	h.write(filepath.Join(h.dir, ".claude.json"), `{"mcpServers": {"leann": {"command": "leann_mcp"}}}`)
	for _, name := range []string{"PATH", "SystemRoot", "TEMP", "TMP"} {
		if v := os.Getenv(name); v != "" {
			h.env = append(h.env, name+"="+v)
		}
	}
	h.env = append(h.env, "HOME="+h.dir, "USERPROFILE="+h.dir, "LOCALAPPDATA="+filepath.Join(h.dir, "AppData", "Local"),
		"DOCSEARCH_HOOK_TIMEOUT_MS=60000") // the machine may be busy
	return h
}

// configure writes the config file and waits until the hook may write a
// snapshot of it.
func (h *hookHome) configure(config string) {
	h.tb.Helper()
	h.write(h.config, config)
	waitForTimestampTick(h.tb, h.config)
}

// waitForTimestampTick waits until a change of the file would change its stamp.
func waitForTimestampTick(tb testing.TB, path string) {
	tb.Helper()
	for {
		stamp, err := config.StampOf(path)
		if err != nil {
			tb.Fatal(err)
		}
		if stamp.Settled(time.Now()) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (h *hookHome) write(path, text string) {
	h.tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.tb.Fatal(err)
	}
}

// state returns the newest state file of a session, or a path for one.
func (h *hookHome) state(session string) string {
	h.tb.Helper()
	states := filepath.Join(filepath.Dir(h.config), "docsearch-denials")
	name := "session-" + session + ".json"
	if paths, err := filepath.Glob(filepath.Join(states, "*", name)); err != nil {
		h.tb.Fatal(err)
	} else if len(paths) > 0 {
		return paths[len(paths)-1]
	}
	minute := filepath.Join(states, fmt.Sprint(time.Now().Unix()/60))
	if err := os.MkdirAll(minute, 0o755); err != nil {
		h.tb.Fatal(err)
	}
	return filepath.Join(minute, name)
}

func (h *hookHome) command(env ...string) *exec.Cmd {
	args := []string{"hook"}
	if h.client != "" {
		args = append(args, "--client", h.client)
	}
	program := cmp.Or(h.program, filepath.Join(binary(h.tb), executable("docsearch")))
	cmd := exec.CommandContext(h.tb.Context(), program, args...)
	cmd.Dir = h.dir
	cmd.Env = append(slices.Clone(h.env), env...)
	return cmd
}

// A hookResult is the result of a hook as a client sees it.
type hookResult struct {
	stdout, stderr string
	code           int
}

func (h *hookHome) run(event string, env ...string) hookResult {
	h.tb.Helper()
	return h.result(h.command(env...), strings.NewReader(event))
}

func (h *hookHome) result(cmd *exec.Cmd, stdin io.Reader) hookResult {
	h.tb.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin = stdin
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.tb.Fatal(err)
	}
	return hookResult{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// requireDenial checks that the result is a denial in Claude Code's format, and
// returns its reason and context.
func (r hookResult) requireDenial(tb testing.TB) (reason, context string) {
	tb.Helper()
	var out struct {
		Specific struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		tb.Fatalf("code %d, stdout %q, stderr %q: %v", r.code, r.stdout, r.stderr, err)
	}
	s := out.Specific
	if r.code != 2 || s.Event != "PreToolUse" || s.Decision != "deny" || !strings.HasPrefix(r.stderr, s.Reason) {
		tb.Fatalf("no denial: code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	return s.Reason, s.Context
}

func (r hookResult) isDenial() bool { return r.code == 2 }

// requirePass checks that the call runs as usual, without output to the client.
func (r hookResult) requirePass(tb testing.TB) {
	tb.Helper()
	if r.code != 0 || r.stdout != "" {
		tb.Errorf("the call did not pass: code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
}

// toolUses counts the calls of webSearch.
var toolUses atomic.Int64

// webSearch returns the event of a web search with a new tool use ID.
func webSearch(session, query string) string {
	event, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": "/t.jsonl", "cwd": "/p", "permission_mode": "default",
		"hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_input": map[string]any{"query": query}, "tool_use_id": fmt.Sprint("toolu_", toolUses.Add(1)),
	})
	if err != nil {
		panic(err)
	}
	return string(event)
}

func TestHookRedirects(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	// The first run reads the config; later ones read its snapshot.
	for i, session := range []string{"a", "b", "c"} {
		reason, context := h.run(webSearch(session, "GitLab CI")).requireDenial(t)
		if !strings.HasPrefix(reason, "Query matches 'gitlab' - using RAG database instead\n") {
			t.Errorf("run %d: reason %q", i, reason)
		}
		want := "This query should use the LEANN MCP tool 'mcp__leann__search' to search the GitLab documentation RAG database at " + rootPath() + "docs/gitlab instead of web search."
		if context != want {
			t.Errorf("run %d: context %q", i, context)
		}
	}
	h.run(webSearch("a", "cooking")).requirePass(t)
	h.run(webSearch("a", "GitLab CI")).requirePass(t)
	if got, err := os.ReadFile(h.state("a")); err != nil || !strings.HasPrefix(string(got), `{"last_denied":null,"passed":[`) {
		t.Errorf("state %s, %v", got, err)
	}
	h.run(webSearch("a", "GitLab CI")).requireDenial(t)
}

func TestHookAnswers(t *testing.T) {
	db := indextest.Database(t, 300)
	path, err := json.Marshal(db)
	if err != nil {
		t.Fatal(err)
	}
	h := newHookHome(t, `{"databases": [{"keywords": ["registry"], "path": `+string(path)+`, "description": "Registry documentation"}]}`)
	for range 2 {
		query := indextest.Question + " " + indextest.Answer
		reason, context := h.run(webSearch(fmt.Sprint(time.Now().UnixNano()), query)).requireDenial(t)
		for _, want := range []string{`mcp__docsearch__search {"query": "how do I rotate`, `"database": "registry"`} {
			if !strings.Contains(reason, want) {
				t.Errorf("reason lacks %q:\n%s", want, reason)
			}
		}
		if !strings.Contains(reason+context, "select:mcp__docsearch__search") {
			t.Errorf("no text explains how to load the tool:\n%s\n\n%s", reason, context)
		}
		if !strings.Contains(reason+context, indextest.Answer) {
			t.Errorf("the passage that answers is missing:\n%s\n\n%s", reason, context)
		}
	}
	writeTestFile(t, filepath.Join(h.dir, "plugin", ".claude-plugin", "plugin.json"), `{"name": "docsearch"}`)
	reason, _ := h.run(webSearch("p", indextest.Question+" "+indextest.Answer), "CLAUDE_PLUGIN_ROOT="+filepath.Join(h.dir, "plugin")).requireDenial(t)
	if !strings.Contains(reason, "mcp__plugin_docsearch_docs__search {") {
		t.Errorf("the plugin's tool is not named:\n%s", reason)
	}
	h.run(webSearch("q", "registry of deeds in medieval Iceland")).requirePass(t)
}

// TestHookFailsOpen checks that the call runs as usual in case of any failure,
// with the reason on stderr. Without the failure, each case would be a denial.
func TestHookFailsOpen(t *testing.T) {
	const query = "gitlab ci"
	good := webSearch("s", query)
	indexed := func(h *hookHome, mode string) (file func(name string) string) {
		db := indextest.Database(t, 50)
		path, err := json.Marshal(db)
		if err != nil {
			t.Fatal(err)
		}
		h.configure(`{"databases": [{"keywords": ["rotate"], "mode": "` + mode + `", "path": ` + string(path) + `, "description": "D"}]}`)
		return func(name string) string {
			matches, err := filepath.Glob(filepath.Join(db, "docsearch", name))
			if err != nil || len(matches) != 1 {
				t.Fatal(name, matches, err)
			}
			return matches[0]
		}
	}
	flip := func(path string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 100; i < len(data); i += 50 {
			data[i] ^= 0xff
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		arrange func(h *hookHome)
		event   string
		env     []string
		stderr  string
		unix    bool // the case needs features that Windows lacks
	}{
		{name: "nothing on stdin", event: "", stderr: "event"},
		{name: "no JSON", event: "WebSearch gitlab", stderr: "event"},
		{name: "half a JSON object", event: good[:len(good)-2], stderr: "event"},
		{name: "two JSON objects", event: good + good, stderr: "event"},
		{name: "a list", event: "[" + good + "]", stderr: "event"},
		{name: "binary", event: "\x00\x01\xff\xfe", stderr: "event"},
		{name: "too long an event", event: `{"pad":"` + strings.Repeat("x", 64<<20) + `",` + good[1:], stderr: "64 MiB"},
		{name: "tool input of a wrong type", event: `{"tool_name":"WebSearch","tool_input":"gitlab"}`},
		{name: "query of a wrong type", event: `{"tool_name":"WebSearch","tool_input":{"query":{"gitlab":1}}}`},
		{name: "query of megabytes", event: webSearch("s", strings.Repeat("gitlab ", 4<<20)), stderr: "query"},
		{name: "no tool", event: `{"tool_input":{"query":"gitlab"}}`},
		{name: "another event", event: strings.Replace(good, "PreToolUse", "PostToolUse", 1)},

		{name: "no config", arrange: func(h *hookHome) { os.Remove(h.config) }, event: good},
		{name: "no home", event: good, env: []string{"HOME=", "USERPROFILE="}, stderr: "cannot find the config"},
		{name: "config is a folder", arrange: func(h *hookHome) { os.Remove(h.config); os.Mkdir(h.config, 0o755) }, event: good, stderr: "not a regular file"},
		{name: "config is empty", arrange: func(h *hookHome) { h.configure("") }, event: good, stderr: "got an empty file; the hook denies no searches"},
		{name: "config is no JSON", arrange: func(h *hookHome) { h.configure("{\n\n\"databases\": [}") }, event: good, stderr: ":3:15: invalid JSON: unexpected"},
		{name: "config is a list", arrange: func(h *hookHome) { h.configure("[]") }, event: good, stderr: "want an object"},
		{name: "config is huge", arrange: func(h *hookHome) { h.configure(redirectConfig + strings.Repeat(" ", 5<<20)) }, event: good, stderr: "larger than"},
		{name: "config links to itself", unix: true, arrange: func(h *hookHome) { os.Remove(h.config); os.Symlink(h.config, h.config) }, event: good, stderr: "too many levels"},
		{name: "config is a device", unix: true, event: good, env: []string{"DOCSEARCH_CONFIG_PATH=/dev/zero"}, stderr: "not a regular file"},
		{name: "config without a usable entry", arrange: func(h *hookHome) { h.configure(`{"databases": [{"keywords": ["gitlab"]}]}`) }, event: good, stderr: "path: want the path"},

		{name: "state is a folder", arrange: func(h *hookHome) { os.Mkdir(h.state("s"), 0o755) }, event: good, stderr: "state"},
		{name: "state folder is a file", arrange: func(h *hookHome) { h.write(filepath.Join(h.dir, "file"), "") }, event: good, env: []string{"DOCSEARCH_STATE_DIR=file"}, stderr: "state"},
		{name: "state links to itself", unix: true, arrange: func(h *hookHome) { os.Symlink(h.state("s"), h.state("s")) }, event: good, stderr: "state"},
		{name: "state cannot be locked", arrange: func(h *hookHome) { os.Mkdir(filepath.Join(filepath.Dir(h.config), "docsearch-state.lock"), 0o755) }, event: good, stderr: "state"},

		{name: "no index", arrange: func(h *hookHome) {
			h.configure(`{"databases": [{"keywords": ["gitlab"], "mode": "redirect", "path": "` + rootPath() + `nowhere", "description": "D"}]}`)
		}, event: good, stderr: "no docsearch index"},
		{name: "manifest is no JSON", arrange: func(h *hookHome) { h.write(indexed(h, "redirect")("manifest.json"), "{") }, event: webSearch("s", indextest.Question), stderr: "manifest"},
		{name: "manifest of another format", arrange: func(h *hookHome) { h.write(indexed(h, "redirect")("manifest.json"), `{"format": 999}`) }, event: webSearch("s", indextest.Question), stderr: "format 999"},
		{name: "lexical index is gone", arrange: func(h *hookHome) { os.Remove(indexed(h, "redirect")("g*/lexical.idx")) }, event: webSearch("s", indextest.Question), stderr: "lexical.idx"},
		{name: "lexical index is empty", arrange: func(h *hookHome) { os.Truncate(indexed(h, "redirect")("g*/lexical.idx"), 0) }, event: webSearch("s", indextest.Question), stderr: "lexical.idx"},
		{name: "lexical index is damaged", arrange: func(h *hookHome) { flip(indexed(h, "answer")("g*/lexical.idx")) }, event: webSearch("s", indextest.Question), stderr: "lexical.idx"},
		{name: "passage table is damaged", arrange: func(h *hookHome) { flip(indexed(h, "answer")("g*/passages.table")) }, event: webSearch("s", indextest.Question), stderr: "passages.table"},
		{name: "passages are damaged", arrange: func(h *hookHome) { flip(indexed(h, "answer")("g*/passages.0.jsonl")) }, event: webSearch("s", indextest.Question), stderr: "passages.0.jsonl"},

		{name: "the deadline has passed", env: []string{"DOCSEARCH_HOOK_TIMEOUT_MS=1"}, event: `{"pad":"` + strings.Repeat("x", 50<<20) + `",` + good[1:], stderr: "timeout after"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.unix && runtime.GOOS == "windows" {
				t.Skip("not on Windows")
			}
			h := newHookHome(t, redirectConfig)
			if test.arrange != nil {
				test.arrange(h)
			}
			// First with the config, then with the snapshot, if there is one.
			for range 2 {
				r := h.run(test.event, test.env...)
				r.requirePass(t)
				if !strings.Contains(r.stderr, test.stderr) || test.stderr == "" && r.stderr != "" {
					t.Errorf("stderr %q, want %q", r.stderr, test.stderr)
				}
			}
		})
	}
}

// A damaged state is ignored: the search is denied, the file is replaced, and
// the retry runs.
func TestHookReplacesDamagedState(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	h.write(h.state("s"), `{"last_denied": `)
	r := h.run(webSearch("s", "gitlab ci"))
	r.requireDenial(t)
	if !strings.Contains(r.stderr, "corrupt state") {
		t.Errorf("stderr %q", r.stderr)
	}
	h.run(webSearch("s", "gitlab ci")).requirePass(t)
}

func TestHookReadsLongEvents(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	event := `{"pad":"` + strings.Repeat(`x\"\\{[`, 50<<20/7) + `",` + webSearch("s", "gitlab")[1:]
	h.run(event).requireDenial(t)
}

func TestHookWithoutStdout(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	h := newHookHome(t, redirectConfig)
	cmd := h.command()
	cmd.Stdout = full
	if r := h.result(cmd, strings.NewReader(webSearch("s", "gitlab"))); r.code != 0 || !strings.Contains(r.stderr, "the call runs as usual") {
		t.Errorf("code %d, stderr %q", r.code, r.stderr)
	}
}

// The hook does not wait for a client that never closes stdin.
func TestHookDeadlineOnStdin(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	for range 2 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		result := h.result(h.command("DOCSEARCH_HOOK_TIMEOUT_MS=50"), r)
		result.requirePass(t)
		if !strings.Contains(result.stderr, "timeout after") {
			t.Errorf("stderr %q", result.stderr)
		}
		r.Close()
		w.Close()
	}
}

// The hook handles an event that arrives in pieces or without a closed stdin.
func TestHookReadsPartialInput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows reads to the end")
	}
	h := newHookHome(t, redirectConfig)
	h.run(webSearch("warm", "gitlab")).requireDenial(t)
	for i, test := range []struct {
		query string
		pause time.Duration
		code  int
	}{
		{"gitlab", 0, 2}, {"cooking", 0, 0}, {"gitlab", time.Millisecond, 2}, {"cooking", time.Millisecond, 0}, {"gitlab", 60 * time.Millisecond, 2}, {"cooking", 60 * time.Millisecond, 0},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		event := webSearch("s"+strconv.Itoa(i), test.query)
		written := make(chan error)
		go func() {
			_, err := w.WriteString(event[:len(event)/2])
			time.Sleep(test.pause)
			_, err2 := w.WriteString(event[len(event)/2:])
			if test.pause > 50*time.Millisecond { // the hook then waits for the end of stdin
				err2 = errors.Join(err2, w.Close())
			}
			written <- errors.Join(err, err2)
		}()
		result := h.result(h.command("DOCSEARCH_HOOK_TIMEOUT_MS=60000"), r)
		if result.code != test.code || strings.Contains(result.stderr, "the call runs as usual") {
			t.Errorf("%q after %v: code %d, stderr %q", test.query, test.pause, result.code, result.stderr)
		}
		if err := <-written; err != nil {
			t.Error(err)
		}
		r.Close()
		w.Close()
	}
}

// A wrong command line or a damaged cache does not affect the decision.
func TestHookStillDenies(t *testing.T) {
	for _, test := range []struct {
		name    string
		arrange func(h *hookHome)
		args    []string
		env     []string
	}{
		{name: "unknown flags", args: []string{"--nonsense", "-x", "more"}},
		{name: "cache is a file", env: []string{"DOCSEARCH_CACHE_DIR=cache"}, arrange: func(h *hookHome) { h.write(filepath.Join(h.dir, "cache"), "") }},
		{name: "snapshot is damaged", env: []string{"DOCSEARCH_CACHE_DIR=cache"}, arrange: func(h *hookHome) {
			h.run(webSearch("x", "gitlab"), "DOCSEARCH_CACHE_DIR=cache").requireDenial(h.tb)
			paths, err := filepath.Glob(filepath.Join(h.dir, "cache", "*.snapshot"))
			if err != nil || len(paths) != 1 {
				h.tb.Fatal(paths, err)
			}
			h.write(paths[0], `{"format": 1, "config": {`)
		}},
		{name: "config has changed", arrange: func(h *hookHome) {
			h.configure(`{"databases": []}`)
			h.run(webSearch("x", "gitlab")).requirePass(h.tb)
			h.write(h.config, redirectConfig)
		}},
		{name: "config has come", arrange: func(h *hookHome) {
			os.Remove(h.config)
			h.run(webSearch("x", "gitlab")).requirePass(h.tb)
			h.configure(redirectConfig)
		}},
		{name: "debugging", env: []string{"DOCSEARCH_DEBUG=1"}},
		{name: "invalid UTF-8 elsewhere", env: []string{"DOCSEARCH_MCP_TOOL=\xff"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHookHome(t, redirectConfig)
			if test.arrange != nil {
				test.arrange(h)
			}
			for _, session := range []string{"a", "b"} {
				cmd := h.command(test.env...)
				cmd.Args = append(cmd.Args, test.args...)
				r := h.result(cmd, strings.NewReader(webSearch(session, "gitlab")))
				if test.name == "debugging" {
					if !strings.Contains(r.stderr, "docsearch: debug: database gitlab matches\n") {
						t.Errorf("stderr %q", r.stderr)
					}
					_, r.stderr, _ = strings.Cut(r.stderr, "debug: deny\n")
				}
				r.requireDenial(t)
			}
		})
	}
}

func TestConcurrentHooks(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	const n = 20
	parallel := func(event func(i int) string, check func(i int, r hookResult)) {
		results := make([]hookResult, n)
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() { results[i] = h.run(event(i)) })
		}
		group.Wait()
		for i, r := range results {
			check(i, r)
		}
	}
	isDenial := func(i int, r hookResult) {
		if !r.isDenial() {
			t.Errorf("hook %d: code %d, stderr %q", i, r.code, r.stderr)
		}
	}
	own := func(i int) string { return webSearch(fmt.Sprint("own-", i), "gitlab") }
	shared := func(i int) string { return webSearch("shared", fmt.Sprint("gitlab ", i)) }
	parallel(own, isDenial)
	parallel(shared, isDenial)
	parallel(own, func(_ int, r hookResult) { r.requirePass(t) })
	parallel(shared, func(_ int, r hookResult) { r.requirePass(t) })
}

func TestHookStaysInItsFolder(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	for _, session := range []string{"../../../../escape", "/etc/escape", `..\..\escape`, "a/b", "a\x00b", strings.Repeat("long/", 2000)} {
		h.run(webSearch(session, "gitlab")).requireDenial(t)
		h.run(webSearch(session, "gitlab")).requirePass(t)
	}
	var strays []string
	err := filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if strings.Contains(d.Name(), "escape") && filepath.Dir(filepath.Dir(path)) != filepath.Join(filepath.Dir(h.config), "docsearch-denials") {
			strays = append(strays, path)
		}
		return err
	})
	if err != nil || len(strays) > 0 {
		t.Errorf("stray files %v, %v", strays, err)
	}
}

func TestHookHosts(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	for _, test := range []struct {
		name, event string
		code        int
		key         string // top-level key of the decision
		pass        string // output for a call that runs
	}{
		{"cursor", `{"conversation_id":"c","cursor_version":"2.1","hook_event_name":"preToolUse","tool_name":"WebSearch","tool_input":{"query":"gitlab"}}`, 0, "permission", "{}\n"},
		{"copilot", `{"sessionId":"p","timestamp":1704614400000,"toolName":"web_search","toolArgs":"{\"query\":\"gitlab\"}"}`, 0, "permissionDecision", ""},
		{"gemini", `{"session_id":"g","hook_event_name":"BeforeTool","timestamp":"2026-11-01T10:00:00Z","tool_name":"google_web_search","tool_input":{"query":"gitlab"}}`, 0, "decision", ""},
	} {
		r := h.run(test.event)
		var out map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
			t.Fatalf("%s: %+v: %v", test.name, r, err)
		}
		if r.code != test.code || out[test.key] != "deny" {
			t.Errorf("%s: code %d, %s = %v", test.name, r.code, test.key, out[test.key])
		}
		if r := h.run(test.event); r.code != 0 || r.stdout != test.pass {
			t.Errorf("%s: the retry did not pass: %+v", test.name, r)
		}
	}
}

func TestHookAllowsItsOwnTools(t *testing.T) {
	h := newHookHome(t, redirectConfig)
	const event = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__plugin_docsearch_docs__search","tool_input":{"query":"gitlab"}}`
	const want = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"docsearch only reads local documentation"}}` + "\n"
	if r := h.run(event); r.code != 0 || r.stdout != want || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	h.run(strings.Replace(event, "mcp__plugin_docsearch_docs__search", "mcp__leann__search", 1)).requirePass(t)
}

// A server counts as docsearch's if the client starts docsearch under that
// server's name.
func TestHookAllowsRenamedTools(t *testing.T) {
	for _, test := range []struct {
		name, settings, project string
		allowed                 bool
	}{
		{"user's server", `{"mcpServers": {"docs": {"command": "/usr/local/bin/docsearch", "args": ["serve"]}}}`, "", true},
		{"user's server for the project", `{"projects": {"/p": {"mcpServers": {"docs": {"command": "docsearch", "args": ["serve", "--leann-compat"]}}}}}`, "", true},
		{"project's server", `{}`, `{"mcpServers": {"docs": {"command": "docsearch", "args": ["serve"]}}}`, true},
		{"another project's server", `{"projects": {"/q": {"mcpServers": {"docs": {"command": "docsearch", "args": ["serve"]}}}}}`, "", false},
		{"another program's server", `{"mcpServers": {"docs": {"command": "npx", "args": ["docs-server"]}}}`, "", false},
		{"another command of docsearch", `{"mcpServers": {"docs": {"command": "docsearch", "args": ["index"]}}}`, "", false},
		{"no server", `{"mcpServers": {}}`, "", false},
		{"no settings", ``, "", false},
		{"broken settings", `{"mcpServers": {"docs": {"command": "docsearch", "args": ["serve"]}}`, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHookHome(t, `{"databases": [], "hook": {"mcp_tool_name": "mcp__docs__search"}}`)
			h.write(filepath.Join(h.dir, ".claude.json"), test.settings)
			cwd := "/p"
			if test.project != "" {
				cwd = h.dir
				h.write(filepath.Join(h.dir, ".mcp.json"), test.project)
			}
			event, err := json.Marshal(map[string]any{"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "mcp__docs__read", "tool_input": map[string]any{"id": "x"}})
			if err != nil {
				t.Fatal(err)
			}
			r := h.run(string(event))
			if got := strings.Contains(r.stdout, `"permissionDecision":"allow"`); got != test.allowed || r.code != 0 {
				t.Errorf("allowed %t, want %t: %+v", got, test.allowed, r)
			}
		})
	}
}

func TestHookEvidence(t *testing.T) {
	h := newHookHome(t, strings.Replace(redirectConfig, "{", `{"hook": {"retry": "evidence"},`, 1))
	search := func() hookResult { return h.run(webSearch("s", "gitlab ci")) }
	search().requireDenial(t)
	search().requireDenial(t)
	h.run(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__leann__search","tool_input":{"query":"gitlab ci"}}`).requirePass(t)
	search().requirePass(t)
	search().requireDenial(t)
	h.run(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls docsearch search"}}`).requirePass(t)
	search().requireDenial(t)
	h.run(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"docsearch search 'gitlab ci'"}}`).requirePass(t)
	search().requirePass(t)
	search().requireDenial(t)
	h.run(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"ReadMcpResourceTool","tool_input":{"server":"docsearch","uri":"docsearch://gitlab/ci.md"}}`).requirePass(t)
	search().requirePass(t)
	h.run(webSearch("t", "gitlab"), "DOCSEARCH_HOOK_RETRY=identical").requireDenial(t)
	h.run(webSearch("t", "gitlab"), "DOCSEARCH_HOOK_RETRY=identical").requirePass(t)
}
