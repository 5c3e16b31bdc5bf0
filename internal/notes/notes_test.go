package notes

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

func TestJudge(t *testing.T) {
	edit := Call{Tool: "Edit", Folder: "/p", Path: "/p/internal/store/store_test.go"}
	command := Call{Tool: "Bash", Folder: "/p", Command: "cd x && GIT_DIR=y sudo git commit -m 'z'"}
	for _, test := range []struct {
		name   string
		call   Call
		when   passage.AppliesWhen
		rarity float64
		prio   int
		taken  bool
		why    string
	}{
		{name: "enough", call: edit, rarity: 1.2, taken: true, why: "1.20 reaches the floor 1.20"},
		{name: "not enough", call: edit, rarity: 1.19, why: "1.19 is below"},
		{name: "its tool", call: edit, when: passage.AppliesWhen{Tools: []string{"write", "edit"}}, rarity: 1.2, taken: true},
		{name: "another tool", call: edit, when: passage.AppliesWhen{Tools: []string{"Bash"}}, rarity: 9, why: "not for the tool Edit"},
		{name: "a path from the folder", call: edit, when: passage.AppliesWhen{Paths: []string{"internal/**"}}, taken: true, why: "1.20"},
		{name: "a name", call: edit, when: passage.AppliesWhen{Paths: []string{"*_test.go"}}, rarity: .5, taken: true},
		{name: "a whole path", call: edit, when: passage.AppliesWhen{Paths: []string{"/p/**/*.go"}}, rarity: .5, taken: true},
		{name: "another path", call: edit, when: passage.AppliesWhen{Paths: []string{"cmd/**", "*.py"}}, rarity: 9, why: "not for the file"},
		{name: "its language", call: edit, when: passage.AppliesWhen{Languages: []string{"Golang"}}, rarity: .8, taken: true},
		{name: "its language alone", call: edit, when: passage.AppliesWhen{Languages: []string{"Golang"}}, rarity: .7, why: "1.10 is below"},
		{name: "its language's ending alone", call: edit, when: passage.AppliesWhen{Paths: []string{"**/*.{go,py}"}}, rarity: .7, why: "is below"},
		{name: "a part of its name", call: edit, when: passage.AppliesWhen{Paths: []string{"**/*_test.go"}}, taken: true},
		{name: "the ending of no language", call: Call{Tool: "Edit", Path: "a/x.module.css"}, when: passage.AppliesWhen{Paths: []string{"*.module.css"}}, taken: true},
		{name: "any file", call: edit, when: passage.AppliesWhen{Paths: []string{"**"}}, rarity: .7, why: "is below"},
		{name: "the program's language", call: Call{Command: "cargo build"}, when: passage.AppliesWhen{Languages: []string{"rust"}}, rarity: .8, taken: true},
		{name: "the language of a program that another runs", call: Call{Command: "uv run pytest -q"}, when: passage.AppliesWhen{Languages: []string{"py"}}, rarity: .8, taken: true},
		{name: "another language's program", call: Call{Command: "npm test"}, when: passage.AppliesWhen{Languages: []string{"rust"}}, rarity: 9, why: "not for the language"},
		{name: "another language", call: edit, when: passage.AppliesWhen{Languages: []string{"python"}}, rarity: 9, why: "not for files such as"},
		{name: "path and language", call: edit, when: passage.AppliesWhen{Paths: []string{"*_test.go"}, Languages: []string{"python"}}, rarity: 9, why: "not for files such as"},
		{name: "commands only", call: edit, when: passage.AppliesWhen{Commands: []string{"go test"}}, rarity: 9, why: "commands only"},
		{name: "paths or commands", call: edit, when: passage.AppliesWhen{Commands: []string{"go test"}, Paths: []string{"*.go"}}, rarity: .8, taken: true},
		{name: "its command", call: command, when: passage.AppliesWhen{Commands: []string{"git commit"}}, rarity: .5, taken: true},
		{name: "its command alone", call: command, when: passage.AppliesWhen{Commands: []string{"git commit"}}, taken: true},
		{name: "a program in a folder", call: Call{Command: "./build/bin/bench --all"}, when: passage.AppliesWhen{Commands: []string{"bench"}}, taken: true},
		{name: "a program that another runs", call: Call{Command: "python -m pytest -x"}, when: passage.AppliesWhen{Commands: []string{"pytest"}}, taken: true},
		{name: "the program that runs it", call: Call{Command: "python -m pytest -x"}, when: passage.AppliesWhen{Commands: []string{"python -m pytest"}}, taken: true},
		{name: "another command", call: command, when: passage.AppliesWhen{Commands: []string{"git comm", "git push", "commit"}}, rarity: 9, why: "not for this command"},
		{name: "files only", call: command, when: passage.AppliesWhen{Paths: []string{"*.go"}}, rarity: 9, why: "files only"},
		{name: "priority", call: edit, rarity: 1, prio: 4, taken: true},
		{name: "low priority", call: edit, rarity: 1.3, prio: -4},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := Entry{Use: passage.NoteMeta{AppliesWhen: test.when, Priority: test.prio}, Rarity: test.rarity}
			test.call.Judge(&e, 1.2)
			// The index finds documents whose conditions are met by a key.
			if keys := test.when.Keys(); e.Selected && len(keys) > 0 && !slices.ContainsFunc(test.call.Query().Keys, func(k string) bool { return slices.Contains(keys, k) }) {
				t.Errorf("keys of the call %q, of the document %q", test.call.Query().Keys, keys)
			}
			if e.Selected != test.taken || !strings.Contains(e.Reason, test.why) {
				t.Errorf("taken: %t, want %t; why %q, want %q in it", e.Selected, test.taken, e.Reason, test.why)
			}
		})
	}
}

// The forms of a command that Lore documents match, as they do with the rules' parser.
func TestWrappedCommands(t *testing.T) {
	for _, line := range []string{
		"git status", "   git status", "sudo git status", "sudo -E git push", "sudo -u user git push",
		"env GIT_PAGER=cat git log", "env A=1 B=2 git status", "env -u VAR git status", "env -i git status",
		"env A=1 env B=2 git status", "sudo env A=1 git pull", `bash -c "git status"`, "sh -c 'git push'",
		`bash -lc "cd x && sudo git status"`, `sh -c "bash -c 'git status'"`, "time -p git status", "exec -a x git log",
	} {
		c := Call{Tool: "Bash", Command: line}
		if !c.runsAny([]string{"git"}) {
			t.Errorf("%s: not git, but %q", line, simpleCommands(line))
		}
		parsed, err := shell.Commands(line)
		if err != nil || !slices.ContainsFunc(parsed, func(s string) bool { return strings.HasPrefix(s, "git ") }) {
			t.Errorf("%s: for rules not git, but %q, %v", line, parsed, err)
		}
	}
	for _, line := range []string{"echo git status", `bash -c "echo git"`, "bash git", "sudo -u git ls", "command -v", "sh -c",
		`env -u`, "bash -c ''", strings.Repeat("sh -c '", 50) + "git"} {
		c := Call{Tool: "Bash", Command: line}
		if c.runsAny([]string{"git"}) {
			t.Errorf("%s: taken for git: %q", line, simpleCommands(line))
		}
	}
}

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true}, {"*.go", "b/a.go", false}, {"**/*.go", "b/c/a.go", true}, {"**/*.go", "a.go", true},
		{"a/**", "a/b/c", true}, {"a/**", "a", true}, {"a/**", "ab/c", false}, {"a/", "a/b", true},
		{"a/*/c", "a/b/c", true}, {"a/*/c", "a/b/b/c", false}, {"a/**/c", "a/b/b/c", true},
		{"*.{ts,tsx}", "x.tsx", true}, {"*.{ts,tsx}", "x.js", false}, {"{a,b}/{c,d}", "b/c", true},
		{"?.go", "a.go", true}, {"?.go", "ab.go", false}, {"*a*b*c", "xaybzc", true}, {"*a*b*c", "xaybz", false},
		{"**", "any/thing", true}, {"", "", true}, {"", "a", false}, {"a{b", "a{b", true}, {"a.go", "A.go", false},
	} {
		if got := Match(test.pattern, test.path); got != test.want {
			t.Errorf("Match(%q, %q) = %t", test.pattern, test.path, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("**/{a,b}*?/", "a/b/c")
	f.Add(strings.Repeat("{a,b}", 9), "ab")
	f.Add(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 90))
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(pattern)+len(path) > 1<<12 {
			return
		}
		Match(pattern, path)
		if !Match("**", path) || !strings.ContainsAny(path, "*?{}") && !strings.HasSuffix(path, "/") && !Match(path, path) {
			t.Errorf("%q is not matched by itself and by all", path)
		}
	})
}

func TestQuery(t *testing.T) {
	for _, test := range []struct {
		name string
		call Call
		want Query
	}{
		{"an edit", Call{Path: "/p/db/migrations/0042_add_email.sql", Text: "ALTER TABLE users ADD email text; -- users.email", UserText: "add e-mail to users"},
			Query{Text: "migrations 0042 add email sql add e-mail to users", Keywords: []string{"ALTER", "TABLE", "users", "ADD", "email", "text", "users.email"},
				Keys: []string{"language:sql", "path:*", "path:p", "path:db", "path:migrations", "path:0042_add_email.sql", "path:.sql"}}},
		{"names by how often", Call{Path: "x.go", Text: "func (s *Store) Read() error { s.parse(); s.parse(); return err }"},
			Query{Text: "go", Keywords: []string{"s.parse", "Store", "Read"}, Keys: []string{"language:go", "language:golang", "path:*", "path:x.go", "path:.go"}}},
		{"windows", Call{Path: `C:\src\Web\App.test.tsx`}, Query{Text: "Web App typescript",
			Keys: []string{"language:typescript", "language:ts", "path:*", "path:c:", "path:src", "path:web", "path:app.test.tsx", "path:.tsx"}}},
		{"a hidden file", Call{Path: "/p/.github/.env"}, Query{Text: "github env", Keys: []string{"path:*", "path:p", "path:.github", "path:.env", "path:.env"}}},
		{"a file in the session's folder", Call{Folder: "/p/shop", Path: "/p/shop/README.md", Text: "# Shop\n\nRun `make_all` to build the whole shop."},
			Query{Text: "README markdown", Keywords: []string{"make_all"}, Keys: []string{"language:markdown", "language:md", "path:*", "path:p", "path:shop", "path:readme.md", "path:.md"}}},
		{"a command", Call{Command: "cd /p && FOO=1 kubectl -n prod rollout restart deploy/x | tee log", Description: "Restart it"},
			Query{Text: "kubectl tee log Restart it", Keys: []string{"command:cd", "command:kubectl", "command:tee"}}},
		{"words of a command", Call{Command: "npm run build --silent; git commit -m 'kubectl delete' # docker"},
			Query{Text: "npm run build git commit", Keys: []string{"command:npm", "command:git", "language:javascript", "language:js", "language:typescript", "language:ts"}}},
		{"no operators", Call{Command: "make", Description: `-build the "title:x"`}, Query{Text: "make build the title x", Keys: []string{"command:make", "language:make", "language:makefile"}}},
		{"a failure", Call{Command: "npm ci", Failure: "Exit code 1\nnpm warn old lockfile\nnpm error code ERR_MODULE_NOT_FOUND\nnpm error Cannot find package 'left-pad' imported from /p/a.js\n"},
			Query{Text: "npm ci Cannot find package 'left-pad' imported from code ERR_MODULE_NOT_FOUND", Keywords: []string{"ERR_MODULE_NOT_FOUND"}}},
		{"a failure without words for it", Call{Command: "x", Failure: "Exit code 3\none\ntwo words\nthree words here"}, Query{Text: "x two words three words here"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.call.Query()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFileName(t *testing.T) {
	for _, test := range []struct{ folder, path, want string }{
		{"/p", "/p/docs/groups.dox", "docs/groups.dox"}, {"/p/", "/p/a/b/c.go", "b/c.go"}, {"/p", "/p/Makefile", ""}, {"/p", "/q/a.go", "q/a.go"},
		{`C:\p`, `C:\p\a\b.go`, "a/b.go"}, {"", "a.go", ""}, {"", "", ""},
	} {
		c := Call{Folder: test.folder, Path: test.path}
		if got := c.FileName(); got != test.want {
			t.Errorf("FileName of %q in %q is %q, want %q", test.path, test.folder, got, test.want)
		}
	}
}

func TestLanguagesOf(t *testing.T) {
	for program, want := range map[string]string{
		"go": "go", "cargo": "rust", "/usr/bin/python3.11": "python", "pip3": "python", "npm": "javascript", "npm.exe": "javascript", "pythonic": "", "git": "", "": "",
	} {
		got := ""
		if l := languagesOf(program); len(l) > 0 {
			got = l[0]
		}
		if got != want {
			t.Errorf("language of %q is %q, want %q", program, got, want)
		}
	}
}

func TestRuns(t *testing.T) {
	for line, want := range map[string][]string{
		"pytest -x":               {"pytest"},
		"python3 -m pytest":       {"python3", "pytest"},
		"uv run python -m pytest": {"uv", "python", "pytest"},
		"npx --yes eslint src":    {"npx", "eslint"},
		"bundle exec rspec":       {"bundle", "rspec"},
		"npx":                     {"npx"},
		"python -m":               {"python"},
		"docker run -m 1g x":      {"docker"},
		"npx npx npx npx npx npx npx npx npx npx npx": slices.Repeat([]string{"npx"}, maxCommands),
	} {
		var got []string
		for _, run := range launchedCommands(strings.Fields(line)) {
			got = append(got, run[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q runs %q, want %q", line, got, want)
		}
	}
}

func TestSimpleCommands(t *testing.T) {
	for line, want := range map[string][][]string{
		"a b | c; d && e || f & g\nh":              {{"a", "b"}, {"c"}, {"d"}, {"e"}, {"f"}, {"g"}, {"h"}},
		`git commit -m "a; b \" c" -m 'd && e'`:    {{"git", "commit", "-m", `a; b " c`, "-m", "d && e"}},
		"A=1 B='x y' env C=2 sudo go test ./...":   {{"go", "test", "./..."}},
		"make 2>&1 | tail":                         {{"make", "2>1"}, {"tail"}},
		"cat <<'EOF' > x\nkubectl get pods\nEOF\n": {{"cat", "<<EOF", ">", "x"}},
		"(cd a; `b c`)":                            {{"cd", "a"}, {"b", "c"}},
		"a \\\n b":                                 {{"a", "b"}},
		"# nothing\nif true; then x; fi":           {{"true"}, {"x"}, {"fi"}},
		"":                                         nil,
		"A=1":                                      nil,
		"'unclosed":                                {{"unclosed"}},
	} {
		if diff := cmp.Diff(want, simpleCommands(line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("Bash", "", "", "a 'b \\\n c' | d <<E\nx", "error: `x` 'y'\nE0382")
	f.Add("Edit", "/p/.a.b.go", "func X_y() { a.b.C() }", "", "")
	f.Fuzz(func(t *testing.T, tool, path, text, command, failure string) {
		c := Call{Tool: tool, Path: path, Text: text, Command: command, Description: text, Failure: failure, UserText: path}
		q := c.Query()
		if len(q.Keywords) > max(maxIdentifiers, maxNames) || strings.ContainsAny(q.Text, "\"\n") {
			t.Errorf("query %q", q)
		}
		e := Entry{Use: passage.NoteMeta{AppliesWhen: passage.AppliesWhen{Paths: []string{text}, Commands: []string{command}, Languages: []string{path}}}}
		c.Judge(&e, 1)
		if commands := simpleCommands(command); len(commands) > maxCommands || slices.ContainsFunc(commands, func(words []string) bool { return len(words) == 0 }) {
			t.Errorf("commands %q", commands)
		}
	})
}

func TestBest(t *testing.T) {
	entries := []Entry{
		{Title: "a", Relevance: 1.3, Selected: true}, {Title: "b", Relevance: 5}, {Title: "c", Relevance: 2, Selected: true}, {Title: "d", Relevance: 1.3, Selected: true},
		{Title: "far behind", Relevance: 1.1, Selected: true}, {Title: "e", Relevance: 1.1, Selected: true, Targeted: true},
	}
	var got []string
	for _, e := range Best(entries) {
		got = append(got, e.Title)
	}
	if want := []string{"c", "a", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("best are %q, want %q", got, want)
	}
	if e := entries[4]; e.Selected || e.Reason != "relevance 1.10 is below 60% of the best note's relevance 2.00" {
		t.Errorf("%+v", e)
	}
}

// The vectors of a document add to its relevance, but do not reach the default floor alone.
func TestJudgeSimilarity(t *testing.T) {
	call := Call{Tool: "Bash", Command: "make"}
	for _, test := range []struct {
		rarity, similarity float64
		selected           bool
		reason             string
	}{
		{.9, 0, false, "relevance 0.90 is below the floor 1.20"},
		{.9, .4, true, "relevance 1.30 reaches the floor 1.20 (0.40 by vectors)"},
		{0, 1, false, "relevance 1.00 is below the floor 1.20 (1.00 by vectors)"},
	} {
		e := Entry{Rarity: test.rarity, Similarity: test.similarity}
		if call.Judge(&e, 1.2); e.Selected != test.selected || e.Reason != test.reason {
			t.Errorf("%+v: selected %t, %s", test, e.Selected, e.Reason)
		}
	}
}

// In a database with few documents, the floor is lower, above all for notes with most of
// the call's words and for those whose title names its program. Vectors do not reach it.
func TestJudgeFewNotes(t *testing.T) {
	commit := Call{Tool: "Bash", Command: "cd x && git commit -m y"}
	edit := Call{Tool: "Edit", Path: "/p/commit.go"}
	for _, test := range []struct {
		call     Call
		e        Entry
		selected bool
		floor    string
	}{
		{commit, Entry{Notes: 17, Rarity: 1.19, Share: .9, Title: "Commit messages"}, false, "1.20"},
		{commit, Entry{Notes: 500, Rarity: 1.2}, true, "1.20"},
		{commit, Entry{Notes: 5, Rarity: .97}, false, "0.97"},
		{commit, Entry{Notes: 5, Rarity: .98}, true, "0.97"},
		{commit, Entry{Notes: 5, Rarity: .64, Share: .5}, true, "0.64"},
		{commit, Entry{Notes: 5, Rarity: .64, Share: .49}, false, "0.97"},
		{commit, Entry{Notes: 1, Rarity: .46, Title: "Commit messages"}, true, "0.45"},
		{commit, Entry{Notes: 1, Rarity: .46, Title: "All our commits"}, true, "0.45"},
		{commit, Entry{Notes: 1, Rarity: .46, Title: "Committees"}, false, "0.90"},
		{edit, Entry{Notes: 1, Rarity: .46, Title: "Commit messages"}, false, "0.90"},
		{commit, Entry{Notes: 1, Rarity: .4, Similarity: .7}, false, "1.20"},
		{commit, Entry{Notes: 1, Rarity: .9, Similarity: .1}, true, "0.90"},
		{commit, Entry{Rarity: 1, Share: 1, Title: "Commit messages"}, false, "1.20"},
	} {
		e := test.e
		if test.call.Judge(&e, 1.2); e.Selected != test.selected || !strings.Contains(e.Reason, "the floor "+test.floor) {
			t.Errorf("%+v: selected %t, %s; want the floor %s", test.e, e.Selected, e.Reason, test.floor)
		}
	}
}

// The limit counts the items that the agent has not seen.
func TestComposeLimit(t *testing.T) {
	o := Injection{Items: []Item{{Key: "a", Text: "a"}, {Key: "b", Text: "b"}, {Key: "c", Text: "c"}}, Max: 100}
	for limit, want := range []string{"b\n\nc", "b", "b\n\nc"} {
		o.Limit = limit
		if text, _ := o.Compose(func(key string) bool { return key == "a" }); text != want {
			t.Errorf("limit %d: %q, want %q", limit, text, want)
		}
	}
}

func TestCompose(t *testing.T) {
	long := strings.Repeat("a line of text\n", 100)
	items := []Item{
		{Key: "a", Text: "first"},
		{Key: "b", Text: "second:", Quote: long, Rest: "the rest is elsewhere"},
		{Key: "c", Text: "third"},
	}
	for _, test := range []struct {
		name  string
		max   int
		shown string
		want  string // keys
		parts []string
	}{
		{"all", 4000, "", "abc", []string{"head\nfirst\n\nsecond:\n```\na line", "\n```\n\nthird"}},
		{"not again", 4000, "ac", "b", []string{"head\nsecond:\n```\na line"}},
		{"nothing left", 4000, "abc", "", nil},
		{"a part", 900, "", "ab", []string{"a line of text [...]\n```\nthe rest is elsewhere"}},
		{"too little for a part", 300, "", "ac", []string{"first\n\nthird"}},
		{"no room", 3, "", "", nil},
		{"just enough", len("head\nfirst"), "", "a", []string{"head\nfirst"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := Injection{Head: "head\n", Items: items, Max: test.max}
			text, given := o.Compose(func(key string) bool { return strings.Contains(test.shown, key) })
			keys := ""
			for _, item := range given {
				keys += item.Key
			}
			if keys != test.want || len(text) > test.max || (text == "") != (test.want == "") {
				t.Errorf("keys %q, want %q; %d bytes of %d", keys, test.want, len(text), test.max)
			}
			for _, part := range test.parts {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in %q", part, text)
				}
			}
		})
	}
}
