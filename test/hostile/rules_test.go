package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commandEvent is the event of a command in a folder.
func commandEvent(t *testing.T, command, cwd string) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]string{"command": command}, "cwd": cwd,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// userRules writes a config with a rule for kubectl and n other ones.
func (s *sandbox) userRules(n int, hook string) {
	s.Helper()
	var b strings.Builder
	b.WriteString(`{"hook": ` + hook + `, "routes": {"own": {"command_pattern": "^kubectl", "message": "own rule"}`)
	for i := range n {
		fmt.Fprintf(&b, ",\n\"r%d\": {\"pattern\": \"https://h%d\\\\.example\\\\.com/(a|b)+/x[0-9]{2,5}\", \"message\": \"m\"}", i, i)
	}
	s.write(filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), b.String()+"}}")
}

// numbered joins n copies of a line with its number.
func numbered(n int, line string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "N", fmt.Sprint(i)))
	}
	return b.String()
}

// ruleBombs are rule files that cost a reader without bounds seconds.
var ruleBombs = map[string]string{
	".docsearch/routes.toml":      numbered(60_000, "[a.bN.c]\n"),
	".docsearch/routes.json":      `{"routes": {` + strings.TrimSuffix(numbered(9_000, "\"rN\": {\"pattern\": \"xN(a|b)+\", \"message\": \"m\"},\n"), ",\n") + "}}",
	".docsearch/routes.yaml":      "routes:\n" + numbered(12_000, " rN: {pattern: 'xN(a|b)+', message: m}\n"),
	".docsearch/routes.yml":       "routes:\n" + numbered(1_500, " rN: {pattern: 'xN(a|b)+', message: m}\n"),
	".claude/tool-routes.yaml":    "routes: " + strings.Repeat("[", 100_000),
	".claude/settings.json":       `{"enabledPlugins": {` + strings.TrimSuffix(numbered(60_000, "\"pN\": true,\n"), ",\n") + "}}",
	".claude/settings.local.json": strings.Repeat("[", 200_000),
}

// Whatever the rule files of a checkout contain, the user's own rule denies the first call
// there, and the second, which has snapshots. The file and its bound are named.
func TestRulesOfACheckout(t *testing.T) {
	all := map[string]string{}
	for name, text := range ruleBombs {
		all[name] = text
		t.Run(filepath.Base(name), func(t *testing.T) { attackRules(t, map[string]string{name: text}) })
	}
	t.Run("all", func(t *testing.T) { attackRules(t, all) })
}

func attackRules(t *testing.T, files map[string]string) {
	s := newSandbox(t)
	s.userRules(0, `{"timeout_ms": 60000}`)
	s.write(filepath.Join(s.home, ".claude", "plugins", "installed_plugins.json"), `{"plugins": {}}`) // else no settings are read
	s.mkdir(filepath.Join(s.work, ".git"))
	for name, text := range files {
		s.write(filepath.Join(s.work, filepath.FromSlash(name)), text)
	}
	for range 2 {
		if r := s.hook(commandEvent(t, "kubectl get pods", s.work)); r.late || !strings.Contains(r.stdout, "own rule") {
			t.Errorf("the user's rule did not deny: late %t, stdout %q, stderr %.300q", r.late, r.stdout, r.stderr)
		}
		// A call that no rule of the user matches opens the files of the project.
		if r := s.hook(commandEvent(t, "ls", s.work)); r.late || r.code != 0 || r.stdout != "" {
			t.Errorf("ls: code %d, late %t, stdout %q, stderr %.300q", r.code, r.late, r.stdout, r.stderr)
		} else {
			named(t, "the hook", r.stderr, files)
		}
	}
	list := s.docsearch("route", "list")
	if !strings.Contains(list.stdout, "own ") || strings.Contains(list.stdout, "r1 ") {
		t.Errorf("route list: %.300q", list.stdout)
	}
	named(t, "route list", list.stderr, files)
	if check := s.docsearch("config", "check"); check.code != 1 && len(files) > 1 {
		t.Errorf("config check: code %d, %q", check.code, check.stdout)
	} else {
		named(t, "config check", check.stdout, files)
	}
}

// named checks that an output names the rule files that were ignored. Settings are for the
// agent to report, unless they are too large.
func named(t *testing.T, what, output string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if strings.HasSuffix(name, "settings.local.json") || len(files) > 1 && len(text) < 256<<10 {
			continue
		}
		if !strings.Contains(output, filepath.FromSlash(name)+":") {
			t.Errorf("%s does not name %s: %.500q", what, name, output)
		}
	}
}

// Rules that take longer to read than the hook has time are read in the background: a later
// call has them. What fails there is not tried again in each call.
func TestLateRulesAreKept(t *testing.T) {
	s := newSandbox(t)
	s.userRules(8_000, `{"timeout_ms": 250}`)
	event := commandEvent(t, "kubectl get pods", s.work)
	const message = "in the background"
	started, denied := 0, false
	for end := time.Now().Add(2 * time.Minute); !denied && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		r := s.hook(event)
		denied = strings.Contains(r.stdout, "own rule")
		if strings.Contains(r.stderr, message) {
			started++
		}
	}
	if !denied || started > 1 {
		t.Errorf("denied: %t, started in the background %d times", denied, started)
	}

	// A rule file of the user that cannot be read is a failure of each attempt.
	s = newSandbox(t)
	s.userRules(8_000, `{"timeout_ms": 250}, "route_files": ["`+filepath.ToSlash(filepath.Join(s.home, "rules.json"))+`"]`)
	s.write(filepath.Join(s.home, "rules.json"), strings.Repeat("x", 5<<20))
	started = 0
	for range 12 {
		if strings.Contains(s.hook(event).stderr, message) {
			started++
		}
		time.Sleep(200 * time.Millisecond)
	}
	if started > 1 {
		t.Errorf("started in the background %d times", started)
	}
	if _, err := os.Stat(filepath.Join(s.home, ".cache", "docsearch", "refresh.lock")); err != nil && started > 0 {
		t.Error(err)
	}
}
