package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forbiddenImports maps packages that the hook must not import to the reason.
var forbiddenImports = map[string]string{
	"flag":                     "the hook has no flags",
	"html/template":            "its initialization is slow",
	"log/slog":                 "its initialization is slow, and the hook writes plain text to stderr",
	"net":                      "the hook uses no network, and cgo's resolver requires dynamic linking",
	"net/http":                 "the hook uses no network",
	"os/exec":                  "the hook starts no process",
	"path/filepath":            "it sorts late: twenty more packages would be initialized before the hook",
	"regexp":                   "its initialization is slow, and rules use patterns that it does not support",
	"mvdan.cc/sh/v3/syntax":    "its initialization is slow",
	"runtime/debug":            "it sorts late: thirty more packages would be initialized before the hook",
	"text/template":            "its initialization is slow",
	"github.com/spf13/cobra":   "the hook has no flags",
	"github.com/spf13/viper":   "the hook reads the snapshot",
	"github.com/coder/hnsw":    "the hook uses lexical search only",
	"golang.org/x/sys/unix":    "its initialization is slow",
	"golang.org/x/text/cases":  "its initialization is slow",
	"golang.org/x/sys/windows": "its initialization is slow",
}

// thirdPartyImports lists the third-party packages that the hook may import:
// stemmers, Unicode normalization, and regular expressions for rules, which are
// compiled only for calls that may match.
var thirdPartyImports = []string{
	"github.com/blevesearch/snowballstem", "github.com/dlclark/regexp2",
	"golang.org/x/text/transform", "golang.org/x/text/unicode/norm",
}

// TestHookImports checks the imports of the hook, in docsearch and in docsearch-hook. The
// hook runs before every tool call, so its imports add to the latency of each call.
func TestHookImports(t *testing.T) {
	const module = "github.com/docsearch/docsearch/"
	for program, allowed := range map[string][]string{
		"internal/hook/startup": nil,
		"cmd/docsearch-hook":    {"os/exec", "path/filepath", "runtime/debug"}, // initialized after the hook
	} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}", module+program).Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			path, standard, _ := strings.Cut(strings.TrimSpace(line), " ")
			if why, bad := forbiddenImports[path]; bad && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: %s", program, path, why)
			}
			of := func(other string) bool { return path == other || strings.HasPrefix(path, other+"/") }
			if standard != "true" && !strings.HasPrefix(path, module) && !slices.ContainsFunc(thirdPartyImports, of) {
				t.Errorf("%s imports %s, which is not in the standard library", program, path)
			}
		}
	}
}

// TestStandardLibraryOnly checks the packages whose doc comment claims this.
func TestStandardLibraryOnly(t *testing.T) {
	claims := 0
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if doc, _, _ := strings.Cut(string(text), "\npackage "); err != nil || !strings.Contains(strings.Join(strings.Fields(doc), " "), "Standard library only") {
			return err
		}
		claims++
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", filepath.Dir(path)).Output()
		for _, imported := range strings.Fields(string(out)) {
			if !strings.HasPrefix(imported, "github.com/docsearch/docsearch/") {
				t.Errorf("%s claims to import only the standard library, but imports %s", path, imported)
			}
		}
		return err
	})
	if err != nil || claims == 0 {
		t.Errorf("%d packages import the standard library only, %v", claims, err)
	}
}

// TestInitOrder checks that the hook has finished before the heavy packages are
// initialized, which depends on the package initialization order. In docsearch-hook, fewer
// packages come before it.
func TestInitOrder(t *testing.T) {
	ruled := newHookHome(t, strings.Replace(redirectConfig, "{", `{"routes": {"kubectl": {"command_pattern": "^kubectl", "commands": "parsed", "message": "m"}},`, 1))
	plain := newHookHome(t, redirectConfig)
	named := newHookHome(t, redirectConfig)
	named.client = "codex"
	small := newHookHome(t, redirectConfig)
	small.program = hookProgram(t)
	for _, test := range []struct {
		h     *hookHome
		event string
		code  int
		limit int // maximum number of packages initialized before the hook
	}{
		{small, webSearch("s", "cooking"), 0, 23},
		{plain, webSearch("s", "cooking"), 0, 78},
		{plain, toolCall("s", "Bash", "command", "cd x && ls"), 0, 78},
		{plain, toolCall("s", "Edit", "file_path", "/p/a.go"), 0, 78},
		{plain, webSearch("s", "gitlab"), 2, 78},
		{named, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"webrun","tool_input":{"search_query":[{"q":"gitlab"}]}}`, 0, 78},
		{ruled, webSearch("s", "gitlab"), 2, 78},
		{ruled, webSearch("s", "cooking"), 0, 78}, // with a rule
		{ruled, toolCall("s", "Bash", "command", "cd x && ls"), 0, 78},
	} {
		test.h.run(strings.Replace(test.event, `"s"`, `"warm"`, 1)) // writes snapshots
		r := test.h.run(test.event, "GODEBUG=inittrace=1")
		if r.code != test.code {
			t.Fatalf("code %d, stderr %s", r.code, r.stderr)
		}
		var initialized []string
		for line := range strings.Lines(r.stderr) {
			if rest, ok := strings.CutPrefix(line, "init "); ok {
				path, _, _ := strings.Cut(rest, " ")
				initialized = append(initialized, path)
			}
		}
		if n := len(initialized); n == 0 || n > test.limit {
			t.Errorf("%d packages were initialized before the hook, want at most %d: %s", n, test.limit, strings.Join(initialized, " "))
		}
		for _, path := range initialized {
			if strings.HasPrefix(path, "github.com/docsearch/docsearch/") {
				t.Errorf("%s has variables to initialize on every start", path)
			}
		}
		for _, heavy := range []string{
			"github.com/santhosh-tekuri/jsonschema/v6", "github.com/mark3labs/mcp-go/mcp", "github.com/spf13/viper", "github.com/spf13/cobra", "net/http",
			"github.com/subosito/gotenv", "go.yaml.in/yaml/v3", "mvdan.cc/sh/v3/fileutil", "regexp",
			"github.com/ledongthuc/pdf", "github.com/ulikunitz/xz", "golang.org/x/net/html",
		} {
			if slices.Contains(initialized, heavy) {
				t.Errorf("%s was initialized before the hook", heavy)
			}
		}
	}
}
