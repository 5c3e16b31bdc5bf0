//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Texts by which docsearch's denials are recognized.
const (
	searchDenied = "Found in local documentation ("
	fetchDenied  = "Read from local documentation ("
	databaseList = "Local documentation is searchable with the tool"
)

// artifactPage is on a made-up site, which never resolves.
const artifactPage = "https://docs.example.invalid/ci/artifact/"

// An observation is all that one client showed.
type observation struct {
	client          client
	version, home   string
	doctor          string // its output
	main, twoCopies playedScript
	left            []string // differences after uninstall
}

// Cells of checks that the client has no tool for, or no second copy of the hook.
const (
	notOffered = "not offered"
	oneRuns    = "only one runs"
)

// checks are the rows of the table in docs/agents.md. Each returns the reason
// why the client fails it, or "".
var checks = []struct {
	name string
	fail func(observation) string
}{
	{"`docsearch doctor` runs the hook and the server", func(o observation) string {
		for _, link := range []string{"hook", "server"} {
			if !regexp.MustCompile(`(?m)^ok +(` + o.client.name + ` )?` + link + `: `).MatchString(o.doctor) {
				return "the " + link + " is not in order:\n" + o.doctor
			}
		}
		return ""
	}},
	{"The model sees the databases and pinned notes at the start", func(o observation) string {
		first := o.main.turns[0].text
		if strings.Count(first, databaseList) != 1 || strings.Count(first, pinnedSays) != 1 {
			return fmt.Sprintf("the first request has the context %d times", strings.Count(first, databaseList))
		}
		return ""
	}},
	{"A web search is denied with the passages", func(o observation) string {
		if o.client.search == nil {
			return notOffered
		}
		return o.main.failDenial("search", searchDenied, pageSays)
	}},
	{"The same web search again runs", func(o observation) string {
		if o.client.search == nil {
			return notOffered
		}
		return o.main.failRetry("search again")
	}},
	{"A page fetch is denied with the page", func(o observation) string {
		if o.client.fetch == nil {
			return notOffered
		}
		return o.main.failDenial("fetch", fetchDenied, artifactsSay)
	}},
	{"The same page fetch again runs", func(o observation) string {
		if o.client.fetch == nil {
			return notOffered
		}
		return o.main.failRetry("fetch again")
	}},
	{"Denials name docsearch's tools as the client does", func(o observation) string {
		prefix := strings.TrimSuffix(o.client.named, "search")
		label := o.webCall()
		if !o.main.adds(label, "\n"+prefix) && !strings.Contains(o.main.result(label), "\n"+prefix) {
			return "the denial does not name a tool " + prefix + "...:\n" + o.main.result(label)
		}
		return ""
	}},
	{"A rule denies a shell command", func(o observation) string {
		return o.main.failDenial("rule", ruleSays, ruleSays)
	}},
	{"The model sees a note when it writes a file", func(o observation) string {
		if !o.main.adds("write", noteSays) {
			return "no note: " + o.main.result("write")
		}
		return ""
	}},
	{"The model sees a note after a failed command", func(o observation) string {
		if !o.main.adds("failure", remedySays) {
			return "no note: " + o.main.result("failure")
		}
		return ""
	}},
	{"The model searches with the MCP server", func(o observation) string {
		if result := o.main.result("mcp"); !strings.Contains(result, runnersSay) {
			return "the search returned: " + result
		}
		return ""
	}},
	{"With two copies of the hook, the same fetch again runs", func(o observation) string {
		if o.client.second == "" {
			return oneRuns
		}
		// One of the copies denies the call without the page.
		label := o.webCall()
		denial := o.twoCopies.result(label)
		if !strings.Contains(denial, "the page was not fetched.") && !strings.Contains(denial, "the web search was not run.") {
			return "not denied: " + denial
		}
		return o.twoCopies.failRetry(label + " again")
	}},
	{"`docsearch uninstall` restores all files, byte for byte", func(o observation) string {
		return strings.Join(o.left, "\n")
	}},
}

// webCall returns the label of a web call that the client offers, a fetch if it can.
func (o observation) webCall() string {
	if o.client.fetch == nil {
		return "search"
	}
	return "fetch"
}

// failDenial returns why a call was not denied with a reason and a text.
func (p playedScript) failDenial(label, reason, text string) string {
	switch result := p.result(label); {
	case !strings.Contains(result, reason):
		return "not denied: " + result
	case !p.adds(label, text):
		return "denied without the text: " + result
	}
	return ""
}

// failRetry returns why a repeated call was not passed to the client's tool.
func (p playedScript) failRetry(label string) string {
	result := p.result(label)
	if result == "" || strings.Contains(result, "local documentation") {
		return "not run: " + result
	}
	return ""
}

// TestClients runs each client with docsearch's hook and server, and compares
// what its model saw with the docs.
func TestClients(t *testing.T) {
	var columns []column
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			columns = append(columns, newColumn(t, observe(t, c)))
		})
	}
	checkDocs(t, columns)
}

// observe installs docsearch in a client, runs it, runs it with a second copy
// of the hook, and uninstalls docsearch.
func observe(t *testing.T, c client) observation {
	s := newClientSession(t, c)
	o := observation{client: c, version: s.version, home: s.home}
	before := s.settingsFiles(t)
	s.docsearch(t, "install", "--client", c.name)
	installed := s.settingsFiles(t)
	twice := searchSteps(c)
	var fetches []step
	if c.fetch != nil {
		fetches = []step{{"fetch", c.fetch(artifactPage)}, {"fetch again", c.fetch(artifactPage)}}
		twice = fetches
	}
	o.doctor = s.doctor(t)
	o.main = s.play(t, slices.Concat(searchSteps(c), fetches, []step{
		{"rule", c.shell(ruledCommand)},
		{"write", c.write(filepath.Join(s.project, "store.go"), "package store\n\nfunc Read() error { return fmt.Errorf(\"reading\") }\n")},
		{"failure", c.shell(failedCommand)},
		{"mcp", c.mcp("example: how often does a runner poll for jobs")},
	})...)
	if c.second != "" {
		log := s.addSecondCopy(t)
		o.twoCopies = s.play(t, twice...)
		if _, err := os.Stat(log); err != nil {
			t.Errorf("the client did not run the second copy of the hook: %v", err)
		}
	}
	used := s.settingsFiles(t)
	s.docsearch(t, "uninstall", "--client", c.name)
	if tools := o.main.turns[0].tools; c.search == nil && slices.ContainsFunc(tools, regexp.MustCompile(`(?i)web_?search`).MatchString) {
		t.Errorf("the client has a web search, which this test does not call: %q", tools)
	}
	o.left = leftovers(before, installed, used, s.settingsFiles(t))
	return o
}

// doctor returns the output of docsearch doctor, which fails if a user must take
// a further step.
func (s *clientSession) doctor(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t), "doctor")
	cmd.Dir, cmd.Env = s.project, s.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

func searchSteps(c client) []step {
	if c.search == nil {
		return nil
	}
	return []step{{"search", c.search(pageQuery)}, {"search again", c.search(pageQuery)}}
}

// addSecondCopy registers a second copy of the hook in the project, as in a
// teammate's checkout at another path. It returns a file that this copy
// creates.
func (s *clientSession) addSecondCopy(t *testing.T) (log string) {
	t.Helper()
	log = filepath.Join(s.home, "second-copy")
	copied := filepath.Join(s.home, "team", "docsearch")
	s.write(t, copied, fmt.Sprintf("#!/bin/sh\necho \"$@\" >> '%s'\nexec '%s' \"$@\"\n", log, program(t)))
	if err := os.Chmod(copied, 0o755); err != nil {
		t.Fatal(err)
	}
	hooks := read(t, filepath.Join(s.home, s.client.hooks))
	s.write(t, filepath.Join(s.project, s.client.second), strings.ReplaceAll(hooks, hookProgram(t), copied))
	return log
}

// settingsFiles returns the contents of the files in the home folder and the
// project, by path, except docsearch's own and the backups.
func (s *clientSession) settingsFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{s.home, s.project} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && slices.Contains([]string{".cache", ".local", ".git", "node_modules", "bin"}, entry.Name()):
				return filepath.SkipDir
			case entry.Type().IsRegular() && !strings.Contains(entry.Name(), ".before-docsearch"):
				files[path] = read(t, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// leftovers compares the files that the installation changed: they are as
// before it, or have no entry of docsearch if the client has changed them, too.
func leftovers(before, installed, used, after map[string]string) (left []string) {
	for path, text := range installed {
		was, existed := before[path]
		now, exists := after[path]
		switch {
		case existed && was == text: // not changed by the installation
		case used[path] != text && !strings.Contains(now, "docsearch"):
		case now != was || exists != existed:
			left = append(left, fmt.Sprintf("%s is\n%s\nand was\n%s", path, now, was))
		}
	}
	return left
}
