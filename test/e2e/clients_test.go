//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
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

// A client is an agent that runs docsearch's hook and MCP server.
type client struct {
	name    string // value of --client
	title   string // column of the table in docs/agents.md
	pkg     string // npm package
	version string
	bin     string // program of the package
	command string // that runs a prompt, as in the docs

	// files are settings that exist before the installation, by path in the
	// home folder. In files, env and args, {url} is the address of the model,
	// {home} and {project} are the session's folders.
	files map[string]string
	env   []string
	args  []string

	// Tool calls of the model. A client without a tool for searches has no
	// search, and one without a tool for pages has no fetch.
	load   []toolCall // calls that make the other tools available
	search func(query string) toolCall
	fetch  func(url string) toolCall
	shell  func(command string) toolCall
	write  func(path, text string) toolCall
	mcp    func(query string) toolCall // docsearch's search

	// named is the name of docsearch's search tool in denials.
	named string
	// hooks is the file in the home folder that registers the hook. A copy of
	// it at second, in the project folder, registers another hook; "" if the client
	// runs only one of them.
	hooks, second string
}

// clients are in the order of the table.
var clients = []client{claudeCode, geminiCLI, codexCLI, copilotCLI, openCode, qwenCode, droid, grokBuild, clineCLI, kiloCode}

// latest selects the newest versions of the clients instead of the pinned ones.
var latest = os.Getenv("DOCSEARCH_E2E_LATEST") == "1"

// Texts of the scripts.
const (
	pageQuery     = "example: are caches kept for seven days"
	failedCommand = "sh ./start"
	ruledCommand  = "kubectl get pods"
	prompt        = "Find out how long caches are kept."
)

// A clientSession is a session whose client is installed and configured.
type clientSession struct {
	*session
	client client
	model  *scriptedModel
}

// newClientSession installs the client, and writes its settings and the team's
// databases and rules.
func newClientSession(t *testing.T, c client) *clientSession {
	t.Helper()
	if latest {
		c.version = strings.TrimSpace(runNPM(t, "view", c.pkg, "version"))
	}
	s := &clientSession{client: c, session: &session{version: c.version, home: filetest.TempDir(t), project: filetest.TempDir(t)}}
	path := []string{
		npm(t, c.pkg, c.version),
		npm(t, "node", nodeVersion),
		os.Getenv("PATH"),
	}
	s.env = []string{
		"HOME=" + s.home,
		"PATH=" + strings.Join(path, string(filepath.ListSeparator)),
		"TMPDIR=" + filetest.TempDir(t),
		"LANG=C.UTF-8",
		"NO_COLOR=1",
	}
	s.model = newScriptedModel(t)
	for name, text := range c.files {
		s.write(t, filepath.Join(s.home, name), s.fill(text))
	}
	s.addTeamFiles(t)
	s.write(t, filepath.Join(s.project, "start"), "echo 'fatal: ERR_VAULT_SEALED' >&2\nexit 3\n")
	git := exec.CommandContext(t.Context(), "git", "init", "--quiet", s.project)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return s
}

// fill replaces the placeholders of a client's text.
func (s *clientSession) fill(text string) string {
	return strings.NewReplacer("{url}", s.model.URL, "{home}", s.home, "{project}", s.project).Replace(text)
}

// A step is a labeled call in a script.
type step struct {
	label string
	call  toolCall
}

// A playedScript is a conversation of a client with its model, and the output of
// the client.
type playedScript struct {
	turns  []turn
	steps  []string // labels of the calls, in order
	output string   // without control sequences
}

// play runs the client once with a script.
func (s *clientSession) play(t *testing.T, steps ...step) playedScript {
	t.Helper()
	var p playedScript
	script := slices.Clone(s.client.load)
	for range script {
		p.steps = append(p.steps, "load")
	}
	for _, step := range steps {
		p.steps = append(p.steps, step.label)
		script = append(script, step.call)
	}
	s.model.begin(script)
	p.output = s.run(t)
	var strays []string
	if p.turns, strays = s.model.end(); len(p.turns) == 0 {
		t.Fatalf("the model was not asked; other requests: %q; the client said\n%s", strays, p.output)
	}
	return p
}

// result returns the text of a step's result. If the client puts it into an object as an
// error, it is the text of that.
func (p playedScript) result(label string) string {
	if len(p.turns) == 0 {
		return ""
	}
	last := p.turns[len(p.turns)-1]
	if i := slices.Index(p.steps, label); i >= 0 && i < len(last.results) {
		var object struct{ Error string }
		if json.Unmarshal([]byte(last.results[i]), &object) == nil && object.Error != "" {
			return object.Error
		}
		return last.results[i]
	}
	return ""
}

// adds reports whether a step shows the text to the model, in its result or in
// context next to it.
func (p playedScript) adds(label, text string) bool {
	before, after := 0, 0
	for _, turn := range p.turns {
		count := strings.Count(turn.text, text)
		switch n := len(turn.results) - slices.Index(p.steps, label); {
		case n <= 0:
			before = max(before, count)
		case n == 1:
			after = max(after, count)
		}
	}
	return after > before
}

var controlPattern = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// offline keeps requests other than those to the model on the machine: the
// model refuses to forward them.
var offline = []string{"HTTPS_PROXY={url}", "HTTP_PROXY={url}", "NO_PROXY=127.0.0.1"}

// run runs the client and returns its output.
func (s *clientSession) run(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := make([]string, len(s.client.args))
	for i, arg := range s.client.args {
		args[i] = s.fill(arg)
	}
	program := filepath.Join(npm(t, s.client.pkg, s.version), s.client.bin)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.project
	cmd.Env = slices.Clip(s.env)
	for _, variable := range s.client.env {
		cmd.Env = append(cmd.Env, s.fill(variable))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	start := time.Now()
	err := cmd.Run()
	t.Logf("%s %s ran for %.1f s", s.client.title, s.version, time.Since(start).Seconds())
	if err != nil {
		t.Errorf("%s: %v", s.client.bin, err)
	}
	return controlPattern.ReplaceAllString(out.String(), "")
}
