package hostile

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// canary is the content of files that no command may read.
const canary = "CANARY-7f3a"

// linksAttack is a home with a folder that no command may touch, and a database
// in which an attacker has placed links.
type linksAttack struct {
	*sandbox
	victim string // folder with files that look like those of databases
	before snapshot
}

func newLinksAttack(t *testing.T) *linksAttack {
	t.Helper()
	a := &linksAttack{sandbox: newSandbox(t)}
	a.victim = filepath.Join(a.home, "victim")
	a.reset()
	return a
}

// reset restores the victim's files.
func (a *linksAttack) reset() {
	a.Helper()
	if err := os.RemoveAll(a.victim); err != nil {
		a.Fatal(err)
	}
	a.write(filepath.Join(a.victim, "notes.md"), "# "+canary+"\n")
	a.write(filepath.Join(a.victim, "passages.jsonl"), `{"id": "1", "text": "`+canary+`"}`+"\n")
	a.write(filepath.Join(a.victim, "manifest.json"), `{"format": 1, "generation": "g000001", "source": {"kind": "`+canary+`"}}`)
	a.write(filepath.Join(a.victim, "journal.jsonl"), canary)
	a.write(filepath.Join(a.victim, "lexical.idx"), canary)
	a.write(filepath.Join(a.victim, "pages", "ab", "page"), canary)
	a.write(filepath.Join(a.victim, "g000001", "lexical.idx"), canary)
	a.before = a.snapshotOf(a.victim)
}

// inSubtest returns the same attack for a subtest.
func (a *linksAttack) inSubtest(t *testing.T) *linksAttack {
	s := *a.sandbox
	s.T = t
	return &linksAttack{&s, a.victim, a.before}
}

// link places a symbolic link at path, replacing what exists there. On Windows,
// where symbolic links require a privilege, it creates a junction if the target
// is a folder.
func (a *linksAttack) link(path, target string) {
	a.Helper()
	if err := os.RemoveAll(path); err != nil {
		a.Fatal(err)
	}
	a.mkdir(filepath.Dir(path))
	relative, err := filepath.Rel(filepath.Dir(path), target) // as in repositories
	if err != nil {
		relative = target
	}
	if err := os.Symlink(relative, path); err != nil {
		if exec.Command("cmd", "/c", "mklink", "/J", path, target).Run() != nil {
			a.Skip(err)
		}
	}
}

// check checks that a command did not modify the victim, and disclosed its
// contents neither in its output nor in the database.
func (a *linksAttack) check(r result, database string) {
	a.Helper()
	a.requireUnchanged(a.victim, a.before)
	if strings.Contains(r.stdout+r.stderr, canary) {
		a.Errorf("the output has the contents of a link target:\n%s\n%s", r.stdout, r.stderr)
	}
	if r.late {
		a.Error("the command had to be killed")
	}
	filepath.WalkDir(database, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), canary) {
				a.Errorf("%s has the contents of a link target", path)
			}
		}
		return nil
	})
}

// page returns a document of a few sentences.
func page(subject string) string {
	return "# Polish the " + subject + "\n\nThe " + subject + " shines when it is polished with a soft cloth and vinegar.\n\n" +
		"## Store the " + subject + "\n\nKeep the " + subject + " in a dry cupboard, away from the light.\n"
}

var pageSubjects = []string{"kettle", "teapot", "ladle", "skillet", "colander", "grater", "whisk", "tureen"}

// A linkedDatabase is a kind of database with its build function.
type linkedDatabase struct {
	name  string
	build func(a *linksAttack, dir string)
}

// linkedDatabases has an entry for each source type that writes into the
// database folder.
var linkedDatabases = []linkedDatabase{
	{"leann", func(a *linksAttack, dir string) {
		var lines strings.Builder
		for i, s := range pageSubjects {
			line, err := json.Marshal(map[string]string{"id": string(rune('a' + i)), "text": page(s)})
			if err != nil {
				a.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		a.write(filepath.Join(dir, "passages.jsonl"), lines.String())
		a.must(a.docsearch("index", "build", dir))
	}},
	{"folder", func(a *linksAttack, dir string) {
		for _, s := range pageSubjects {
			a.write(filepath.Join(a.work, "docs", s+".md"), page(s))
		}
		a.must(a.docsearch("index", "build", filepath.Join(a.work, "docs"), "--out", dir))
	}},
	{"site", func(a *linksAttack, dir string) {
		a.must(a.docsearch("index", "build", a.site(), "--out", dir, "--name", "site", "--delay", "1ms"))
	}},
	{"archive", func(a *linksAttack, dir string) {
		path := filepath.Join(a.work, "docs.tar")
		a.write(path, tarOf(a.T, pageSubjects))
		a.must(a.docsearch("index", "build", path, "--out", dir))
	}},
}

// site serves a page per subject.
func (a *linksAttack) site() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/docs/")
		w.Header().Set("Content-Type", "text/html")
		if name == "" {
			for _, s := range pageSubjects {
				w.Write([]byte(`<a href="` + s + `">` + s + "</a>"))
			}
			return
		}
		w.Write([]byte("<main><h1>Polish the " + name + "</h1><p>" + page(name) + "</p></main>"))
	}))
	a.Cleanup(server.Close)
	return server.URL + "/docs/"
}

// linkPlaces lists the paths in a database where links did or could cause harm,
// with their targets in the victim's folder.
var linkPlaces = []struct{ path, target string }{
	{"docsearch", "."},
	{"docsearch/g000099", "."},
	{"docsearch/g000099/inner", "."},
	{"docsearch/g000099/inner.idx", "lexical.idx"},
	{"docsearch/g000001", "."},
	{"docsearch/g000001", "g000001"},
	{"docsearch/g000001/lexical.idx", "lexical.idx"},
	{"docsearch/g000001/passages.0.jsonl", "passages.jsonl"},
	{"docsearch/g000001/skipped.jsonl", "passages.jsonl"},
	{"docsearch/build.lock", "notes.md"},
	{"docsearch/build.lock", "absent"},
	{"docsearch/manifest.json", "manifest.json"},
	{"docsearch/.manifest.json.tmp-1", "manifest.json"},
	{"source", "."},
	{"source/pages", "pages"},
	{"source/pages/ab", "pages/ab"},
	{"source/journal.jsonl", "journal.jsonl"},
	{"source/lock", "notes.md"},
	{"source/copy", "."},
	{"source/copy.new", "."},
	{"documents.leann.passages.jsonl", "passages.jsonl"},
	{"documents.leann.passages.jsonl.new", "passages.jsonl"},
	{"documents.leann.passages.idx", "notes.md"},
	{"documents.leann.meta.json", "manifest.json"},
	{"documents.ids.txt", "absent"},
	{".documents.ids.txt.tmp-1", "notes.md"},
}

// For any link among the files of a database, no command writes, removes or
// discloses its target. The nightly tests run each command with each link in each kind of
// database. Others run each command with each link in one kind, and with the links in a mirror,
// which two kinds have, in all.
func TestLinksInADatabase(t *testing.T) {
	for k, kind := range linkedDatabases {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			whole := newLinksAttack(t)
			database := filepath.Join(whole.work, "idx")
			kind.build(whole, database)
			for p, place := range linkPlaces {
				t.Run(strings.ReplaceAll(place.path, "/", "_")+" to "+strings.ReplaceAll(place.target, "/", "_"), func(t *testing.T) {
					for c, command := range [][]string{
						{"index", "info"}, {"index", "verify"}, {"search", "--db"}, {"update"},
						{"update", "--full"}, {"index", "build"}, {"index", "remove", "--yes"},
					} {
						if !nightly && (p+c)%len(linkedDatabases) != k && !strings.HasPrefix(place.path, "source") {
							continue
						}
						a := whole.inSubtest(t)
						a.reset()
						idx := filepath.Join(a.work, "attacked")
						if err := os.RemoveAll(idx); err != nil {
							t.Fatal(err)
						}
						a.copyTree(database, idx)
						a.link(filepath.Join(idx, filepath.FromSlash(place.path)), filepath.Join(a.victim, filepath.FromSlash(place.target)))
						args := append(command[:len(command):len(command)], idx)
						if command[0] == "search" {
							args = append(args, "polish the kettle")
						}
						a.check(a.docsearch(args...), idx)
						if t.Failed() {
							t.Fatalf("by docsearch %s", strings.Join(args, " "))
						}
					}
				})
			}
		})
	}
}

// copyTree copies a folder that contains no links.
func (a *linksAttack) copyTree(from, to string) {
	a.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		a.Fatal(err)
	}
}

// Links that only block a build are removed, and the build succeeds.
func TestLinksInTheWayOfABuild(t *testing.T) {
	a := newLinksAttack(t)
	idx := filepath.Join(a.work, "idx")
	linkedDatabases[0].build(a, idx)
	a.link(filepath.Join(idx, "docsearch", "g000099"), a.victim)
	a.link(filepath.Join(idx, "docsearch", ".manifest.json.tmp-1"), filepath.Join(a.victim, "manifest.json"))
	r := a.must(a.docsearch("index", "build", idx))
	a.check(r, idx)
	for _, name := range []string{"g000099", ".manifest.json.tmp-1"} {
		if _, err := os.Lstat(filepath.Join(idx, "docsearch", name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	// A link in place of the index is rejected by name.
	a.link(filepath.Join(idx, "docsearch"), a.victim)
	r = a.docsearch("index", "build", idx)
	if want := filepath.Join(idx, "docsearch") + ": a symbolic link"; r.code == 0 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit code %d, stderr %q, want %q", r.code, r.stderr, want)
	}
	a.check(r, idx)
}

// Passages behind a link are not returned, even if they are the indexed ones.
func TestLinksInAnIndexThatIsSearched(t *testing.T) {
	for _, link := range []string{"docsearch", "docsearch/manifest.json", "docsearch/g000001", "docsearch/g000001/passages.0.jsonl", "docsearch/g000001/lexical.idx"} {
		t.Run(strings.ReplaceAll(link, "/", "_"), func(t *testing.T) {
			a := newLinksAttack(t)
			idx := filepath.Join(a.work, "idx")
			linkedDatabases[0].build(a, idx)
			a.config(idx)
			if r := a.hook(kettleSearch); !strings.Contains(r.stdout, "soft cloth") {
				t.Fatalf("without a link the hook says %+v", r)
			}
			outside := filepath.Join(a.home, "outside")
			path := filepath.Join(idx, filepath.FromSlash(link))
			if err := os.Rename(path, outside); err != nil {
				t.Fatal(err)
			}
			a.link(path, outside)
			if r := a.hook(strings.Replace(kettleSearch, `"s"`, `"t"`, 1)); r.code != 0 || r.stdout != "" || r.late {
				t.Errorf("the hook ended with code %d, late %t", r.code, r.late)
			}
			if r := a.docsearch("search", "--json", "--db", idx, "polish the kettle"); strings.Contains(r.stdout, "soft cloth") || r.code == 0 {
				t.Errorf("search ended with code %d", r.code)
			}
		})
	}
}

const kettleSearch = `{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_input": {"query": "cookware: how do I polish the kettle with vinegar"}}`

// config adds a database to the config file.
func (a *linksAttack) config(path string) {
	a.Helper()
	quoted, err := json.Marshal(path)
	if err != nil {
		a.Fatal(err)
	}
	a.write(filepath.Join(a.home, ".claude", "hooks", "docsearch-config.json"),
		`{"databases": [{"keywords": ["cookware"], "path": `+string(quoted)+`, "description": "Cookware", "mode": "answer"}],
		"routes": {"no-spoons": {"tool": "Bash", "command_pattern": "spoon", "action": "deny", "message": "No spoons.", "limit": 2}}}`)
}

// docsearch does not follow links when it writes next to the config or into its
// cache.
func TestLinksInPlaceOfState(t *testing.T) {
	a := newLinksAttack(t)
	idx := filepath.Join(a.work, "idx")
	linkedDatabases[0].build(a, idx)
	a.config(idx)
	events := []string{
		kettleSearch,
		`{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "spoon"}}`,
		`{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "` + filepath.ToSlash(a.work) + `"}`,
	}
	for _, e := range events {
		a.hook(e)
	}
	update := func() result { return a.docsearch("update", "--all", "--background") }
	update()
	var written []string
	for _, dir := range []string{filepath.Join(a.home, ".claude"), filepath.Join(a.home, ".cache"), filepath.Join(a.home, "Library"), filepath.Join(a.home, "AppData")} {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && d.Name() != "docsearch-config.json" {
				written = append(written, path)
			}
			return nil
		})
	}
	for _, name := range []string{"docsearch-events.lock", "docsearch-events.1.log"} {
		written = append(written, filepath.Join(a.home, ".claude", "hooks", name))
	}
	cache := filepath.Dir(written[0])
	for _, path := range written {
		if strings.HasSuffix(path, ".snapshot") {
			cache = filepath.Dir(path)
		}
	}
	for _, name := range []string{"update.log", "update.lock", "update.json"} {
		written = append(written, filepath.Join(cache, name))
	}
	if len(written) < 8 {
		t.Fatalf("only %q were written: the attack has no aim", written)
	}
	for _, path := range written {
		for _, target := range []string{"notes.md", "absent", "."} {
			a.link(path, filepath.Join(a.victim, target))
			for _, e := range events {
				if r := a.hook(e); r.code != 0 && r.code != 2 || r.late {
					t.Errorf("the hook ended with %+v", r)
				}
			}
			update()
			a.docsearch("update", "--detached", idx)
			a.requireUnchanged(a.victim, a.before)
			if t.Failed() {
				t.Fatalf("with %s a link to %s", path, target)
			}
			os.Remove(path)
		}
	}
}

// Links in the user's own paths are followed.
func TestLinksOfTheUser(t *testing.T) {
	a := newLinksAttack(t)
	dotfiles := filepath.Join(a.home, "dotfiles")
	for _, dir := range []string{"hooks", "data", "cache"} {
		a.mkdir(filepath.Join(dotfiles, dir))
	}
	a.link(filepath.Join(a.home, ".claude", "hooks"), filepath.Join(dotfiles, "hooks"))
	a.link(filepath.Join(a.home, ".local", "share"), filepath.Join(dotfiles, "data"))
	a.link(filepath.Join(a.home, ".cache"), filepath.Join(dotfiles, "cache"))
	docs := filepath.Join(a.work, "docs")
	for _, s := range pageSubjects {
		a.write(filepath.Join(docs, s+".md"), page(s))
	}
	a.must(a.docsearch("setup", "cookware", docs, "--no-install", "--yes"))
	config := filepath.Join(dotfiles, "hooks", "docsearch-config.json")
	elsewhere := filepath.Join(dotfiles, "config.json")
	if err := os.Rename(config, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "config.json"), config); err != nil {
		t.Fatal(err)
	}
	if r := a.hook(kettleSearch); r.code != 2 && !strings.Contains(r.stdout, `"deny"`) {
		t.Errorf("the hook says %+v", r)
	}
	a.write(filepath.Join(docs, "spoon.md"), page("spoon"))
	if r := a.must(a.docsearch("update", "cookware")); !strings.Contains(r.stdout, "1 new") {
		t.Errorf("update says %s", r.stdout)
	}
	a.must(a.docsearch("index", "verify", "cookware"))
	a.must(a.docsearch("setup", "pans", docs, "--name", "pans", "--no-install", "--yes"))
	if st, err := os.Lstat(config); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the config is not a link anymore: %v, %v", st, err)
	}
	if !strings.Contains(a.read(elsewhere), `"pans"`) {
		t.Error("the file behind the link has no new entry")
	}
}

// A docset, or a repository that looks like one, has links in place of its
// pages and its index. docsearch does not read through them.
func TestLinksInADocset(t *testing.T) {
	const pages, index = "Contents/Resources/Documents", "Contents/Resources/docSet.dsidx"
	for name, links := range map[string]map[string]string{
		"pages":          {pages: "."},
		"index":          {index: "notes.md"},
		"a page":         {pages + "/page.html": "notes.md"},
		"parent":         {"Contents": "."},
		"unfolded":       {"pages": "pages", "index.json": "manifest.json"},
		"folded":         {"db.json": "manifest.json", "index.json": "manifest.json"},
		"a folder in it": {"docs": "."},
	} {
		for _, kind := range []string{"docset", "git"} {
			t.Run(name+" by "+kind, func(t *testing.T) {
				a := newLinksAttack(t)
				a.write(filepath.Join(a.victim, "Resources", "Documents", "secret.html"), "<h1>"+canary+"</h1><p>"+canary+"</p>")
				a.write(filepath.Join(a.victim, "pages", "secret.html"), "<h1>"+canary+"</h1><p>"+canary+"</p>")
				a.before = a.snapshotOf(a.victim)
				source := filepath.Join(a.work, "Tea.docset")
				if name == "index" || name == "a page" {
					a.write(filepath.Join(source, filepath.FromSlash(pages), "tea.html"), "<h1>Tea</h1><p>Boil the water.</p>")
				} else {
					a.write(filepath.Join(source, "tea.md"), page("kettle"))
				}
				for path, target := range links {
					a.link(filepath.Join(source, filepath.FromSlash(path)), filepath.Join(a.victim, target))
				}
				args := []string{"index", "build", source, "--name", "tea"}
				if kind == "git" {
					a.repository(source)
					args[2] = "file://" + filepath.ToSlash(source)
				}
				a.check(a.docsearch(args...), filepath.Join(a.home, ".local", "share", "docsearch"))
			})
		}
	}
}

// repository turns a folder into a git repository.
func (a *linksAttack) repository(dir string) {
	a.Helper()
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "one"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(a.env, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			a.Skipf("git %s: %v\n%s", args[0], err, out)
		}
	}
}
