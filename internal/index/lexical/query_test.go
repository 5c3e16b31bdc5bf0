package lexical

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"two words", "two|words"},
		{`"exact phrase" more`, `"exact phrase"|more`},
		{"“curly quotes”", `"curly quotes"`},
		{`print("x") 5" disk`, `print("x")|5"|disk`},
		{`"never closed`, `"never|closed`},
		{`"" x`, `""|x`},
		{"jobs -stages", "jobs|not stages"},
		{"-stages first", "-stages|first"},
		{"tar -x -czf", "tar|-x|not czf"},
		{"find -name", "find|-name"},
		{"gcc -Wall -o2x a-b --not", "gcc|-Wall|not o2x|a-b|--not"},
		{`a -"b c" -title:x -path:"y z"`, `a|not "b c"|not title x|not path "y z"`},
		{"title:install Path:docs/ci", "title install|path docs/ci"},
		{"title: apart std::title::x", "title:|apart|std::title::x"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			var got []string
			for _, c := range parse(tt.text, func(s string) bool { return s == "-name" }) {
				s := c.text
				if c.quoted {
					s = `"` + s + `"`
				}
				if c.field != "" {
					s = c.field + " " + s
				}
				if c.not {
					s = "not " + s
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		query Query
		want  string // own terms, then the symbols with their bonus
	}{
		{"question", Query{Text: "How do I use the cached files?"}, "cach file @cachedfiles:0.50 @:cachedfiles:0.60"},
		{"nothing but a question", Query{Text: "how to do this"}, "how do @howdo:0.50 @:howdo:0.60"},
		{"database name", Query{Text: "git branch in git", Names: []string{"git"}}, "branch @branch:0.50 @.branch:0.40 @:branch:0.60"},
		{"name of two words", Query{Text: "gitlab-ci cache", Names: []string{"gitlab ci"}}, "cach @cache:0.50 @.cache:0.40 @:cache:0.60"},
		{"name with a dot", Query{Text: "node.js streams", Names: []string{"nodejs", "node.js"}}, "stream @streams:0.50 @.streams:0.40 @:streams:0.60"},
		{"nothing but the name", Query{Text: "git", Names: []string{"git"}}, "git @git:0.50 @.git:0.40 @:git:0.60"},
		{"one name", Query{Text: "`os.path.join()`"}, "os path join @ospathjoin:0.50 @.ospathjoin:0.40 @:ospathjoin:0.60"},
		{"a name among words", Query{Text: "what does os.walk return"}, "os walk return @oswalk:0.15 @.oswalk:0.12 @oswalkreturn:0.50 @:oswalkreturn:0.60"},
		{"keywords", Query{Text: "rename folders", Keywords: []string{"os.rename", "move files"}}, "renam*2 folder os move file @renamefolders:0.50 @:renamefolders:0.60 @osrename:0.15 @.osrename:0.12"},
		{"repeated", Query{Text: "file file files"}, "file*3 @filefilefiles:0.50 @:filefilefiles:0.60"},
		{"operators", Query{Text: `cache "two words" -not title:x path:y`}, "cach two word x @cachetwowordsx:0.50 @:cachetwowordsx:0.60"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := a.plan(&tt.query, func(string) bool { return false })
			var got []string
			for _, term := range p.terms {
				switch {
				case term.symbol:
					got = append(got, fmt.Sprintf("%s:%.2f", term.term, term.weight))
				case term.fromQuery && term.weight > 1:
					got = append(got, fmt.Sprintf("%s*%g", term.term, term.weight))
				case term.fromQuery:
					got = append(got, term.term)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzPlan(f *testing.F) {
	f.Add(`"exact phrase" -not title:word path:a/b -title:"two words" os.path.join() --flag`, "git")
	f.Add("“x” -\"", "node.js")
	f.Add("how to convert a string to an int, undo last commit, read file in rust", "Go")
	f.Fuzz(func(t *testing.T, text, name string) {
		for _, language := range languages {
			a, err := NewAnalyzer(language)
			if err != nil {
				t.Fatal(err)
			}
			q := Query{Text: text[:min(len(text), 500)], Keywords: []string{name}, Names: []string{name}}
			p := a.plan(&q, func(s string) bool { return len(s)%2 == 0 })
			for _, term := range p.terms {
				if term.term == "" || !(term.weight > 0) {
					t.Fatalf("term %+v of %q", term, text)
				}
			}
			for _, e := range p.expansions {
				if e.key == 0 || e.key>>min(len(p.terms), maxKeyTerms) != 0 || e.size < 1 || e.targets == "" || !(e.share > 0 && e.share <= 1) {
					t.Fatalf("expansion %+v of %q, which has %d terms", e, text, len(p.terms))
				}
			}
			for _, d := range p.constraints {
				if len(d.words) == 0 {
					t.Fatalf("an empty constraint in %q", text)
				}
			}
			last := 0
			for _, s := range a.Highlighter(q).Spans(text) {
				if s.Start < last || s.Start >= s.End || s.End > len(text) {
					t.Fatalf("span %v after %d in %d bytes", s, last, len(text))
				}
				last = s.End
			}
		}
	})
}

func TestHighlight(t *testing.T) {
	a, err := NewAnalyzer("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ query, text, want string }{
		{"caching files", "Files are cached; the file cache is small.", "[Files] are [cached]; the [file] [cache] is small."},
		{"os.path.join", "call os.path.join(a)", "call [os.path.join](a)"},
		{"user", "getUserName", "get[User]Name"},
		{"zebra", "no match", "no match"},
		{"how do I use files in git", "How do I use a file in git?", "How do I use a [file] in git?"},
	} {
		var b strings.Builder
		last := 0
		for _, s := range a.Highlighter(Query{Text: tt.query, Names: []string{"git"}}).Spans(tt.text) {
			b.WriteString(tt.text[last:s.Start] + "[" + tt.text[s.Start:s.End] + "]")
			last = s.End
		}
		if got := b.String() + tt.text[last:]; got != tt.want {
			t.Errorf("%q in %q: got %q, want %q", tt.query, tt.text, got, tt.want)
		}
	}
}

func TestSymbols(t *testing.T) {
	for _, tt := range []struct {
		fields Fields
		want   string // with a dot before suffixes of names, ^ before names with case
	}{
		{Fields{Title: "os.path.join(path, *paths)¶"}, "os.path.join .path.join .join"},
		{Fields{Title: "class collections.Counter([iterable])"}, "collections.Counter ^collections.Counter .Counter"},
		{Fields{Title: "Installation", Address: "https://e.org/x.html#installation"}, "installation Installation ^Installation"},
		{Fields{Title: "The with statement", Address: "x.md#the-with-statement"}, "the-with-statement"},
		{Fields{Title: "append(x) / clear() / Notes on both"}, "append clear"},
		{Fields{Title: "request.destroyed", Path: []string{"HTTP", "request.destroy([error])"}, Address: "http.html#requestdestroyerror"},
			"requestdestroyerror request.destroyed .destroyed request.destroy .destroy"},
		{Fields{Anchors: []string{"a.b", "c"}}, "a.b .b c"},
		{Fields{Title: "std::vector<T>"}, ""},
		{Fields{Title: "Foo::bar()"}, "Foo::bar .bar"},
		{Fields{Title: "--amend"}, "--amend"},
		{Fields{Title: "(517) BUSY_SNAPSHOT"}, "BUSY_SNAPSHOT"},
		{Fields{Title: `\copy { table [ (…)`}, `\copy`},
		{Fields{Title: `\gset [prefix] \aset [prefix]`}, `\gset`},
		{Fields{Page: "json — JSON encoder and decoder", Title: "json — JSON encoder and decoder"}, ":json"},
		{Fields{Page: "json — JSON encoder and decoder", Title: "Usage", Path: []string{"json — JSON encoder and decoder"}}, "Usage ^Usage"},
		{Fields{Page: "git-bisect(1)", Title: "NAME", Path: []string{"git-bisect(1) Manual Page"}}, "NAME :git-bisect"},
		{Fields{Page: "LISTEN", Title: "Synopsis", Path: []string{"LISTEN"}, Address: "sql-listen.html#SQL-LISTEN"}, "SQL-LISTEN Synopsis ^Synopsis :LISTEN"},
		{Fields{Page: "F.17. hstore", Title: "F.17. hstore"}, ":hstore"},
		{Fields{Page: "CREATE TABLE", Title: "CREATE TABLE"}, ":CREATE TABLE"},
		{Fields{Page: "Table of contents", Title: "Table of contents"}, ""},
		{Fields{Title: "Überschrift"}, ""},
		{Fields{}, ""},
	} {
		var got []string
		for _, s := range symbols(&tt.fields) {
			switch s.kind {
			case nameSuffix:
				s.name = "." + s.name
			case pageName:
				s.name = ":" + s.name
			case casedName:
				s.name = "^" + s.name
			}
			got = append(got, s.name)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", tt.fields, diff)
		}
	}
}

func TestListedNames(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"| Function Description |\n| --- |\n| `unnest` ( `anyarray` ) → `setof anyelement`; Expands an array. |\n", "unnest"},
		{"| `json_agg` ( `anyelement` ) → `json`; `jsonb_agg` ( `anyelement` ) → `jsonb`; Collects values. |\n", "json_agg jsonb_agg"},
		{"| `current_role` → `name`; The user. |\n| `--quiet` | no output |\n| `abs(X)` | absolute value |\n| `%Y` | year |\n", "current_role --quiet abs %Y"},
		{"- `now` ( ) → `timestamp`\n\n  The time.\n", "now"},
		{"- **core.autocrlf**: If it is set, line endings are converted on checkout.\n", "core.autocrlf"},
		{"- `\\dt[S+] [ pattern ]` `\\dv[S+] [ pattern ]`: Lists the tables, the views, or both.\n", `\dt \dv`},
		{"- `-f FILE`, `--file=FILE`: Reads the commands from a file, not from the terminal.\n", "-f --file"},
		{"- `max_age` (`integer`): The time in seconds that a page stays in the cache.\n", "max_age"},
		{"- `max_age` <number>: The time in seconds that a page stays in the cache.\n", ""},
		{"- `max_age` is a time in seconds, with one exception: 0 turns the cache off.\n", ""},
		{"- `get_value()`: Returns the value, as the function of the same name does.\n", ""},
		{"- **Real-time**: The text is updated while another person is writing it.\n- `email.errors`: Exceptions\n", ""},
		{"| `name` | a word |\n| `-` | an operator |\n| plain_text | not code |\n| `unclosed_name |\n", ""},
		{"| `to_char(125, '999')` | `125` |\n", ""},
		{"```\nint db_open(\n  const char *name, /* the file */\n  db **found\n);\nconst char *db_error(db*);\nSQLITE_API void db_free(void *);\n```\n", "db_open db_error db_free"},
		{"```\nint db_main(void) {\n  return db_close(x);\n}\nawait db_open(x);\nSELECT to_text(x);\nx = call it_now(y);\nint db_late(\n```\n", ""},
		{"| first | `second_cell` |\nSee `in_prose` ( above ).\n- ``\n- **\n", ""},
	} {
		if got := strings.Join(slices.Collect(listedNames(tt.text)), " "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestIsManualPage(t *testing.T) {
	for title, want := range map[string]bool{
		"tar(1) - an archiving utility": true,
		"git-add(1)":                    true,
		"openssl-ciphers(1SSL) - list":  true,
		"add_wch(3ncurses)":             true,
		"tar":                           false,
		"open() - opens a file":         false,
		"open(path) - opens a file":     false,
		"Copyright (2020) - the terms":  false,
		"print(1) prints a number":      false,
	} {
		if got := isManualPage(title); got != want {
			t.Errorf("%s: got %t, want %t", title, got, want)
		}
	}
}

func TestTitleOfManualPageCountsTwice(t *testing.T) {
	// Both pages have the words once in their titles. Only the second has one that is a manual page's.
	body := "Prints the result, with an option for each of the columns of the table."
	first, second := "stat - count lines of files", "stat(1) - count lines of files"
	x := build(t, []uint32{0, 0, 1, 1}, []Fields{
		{Title: "Description", Page: first, Body: body}, {Title: "Options", Page: first, Body: "None."},
		{Title: "Description", Page: second, Body: body}, {Title: "Options", Page: second, Body: "None."},
	})
	hits, _, err := x.Search(Query{Text: "count the lines", Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	byPassage := map[uint32]Hit{}
	for _, h := range hits {
		byPassage[h.Passage] = h
	}
	if with, without := byPassage[2], byPassage[0]; with.Words <= without.Words || with.Page <= without.Page {
		t.Errorf("got %+v, want higher scores of passage 2 than of 0, for its words and its page", hits)
	}
}

func TestPriors(t *testing.T) {
	for _, tt := range []struct {
		address string
		aside   bool
		version version
	}{
		{"https://e.org/docs/howto/release.html#x", false, 0},
		{"https://e.org/docs/release-16.html", true, 0},
		{"https://e.org/docs/release-notes/index.html", true, 0},
		{"user/project/releases/index.md", false, 0},
		{"user/release-notes-generator.md", false, 0},
		{"docs/release-notes-3.2.md", true, 0},
		{"docs/release_v2.md", true, 0},
		{"api/posts/index.md", false, 0},
		{"api/changes.md", false, 0},
		{"reference/news.md", false, 0},
		{"https://e.org/docs/lock.html#Lock.release", false, 0},
		{"https://e.org/whatsnew/3.11.html", true, 0},
		{"changelog.md", true, 0},
		{"docs/adr/0007-queues.md", true, 0},
		{"CONTRIBUTING.md", true, 0},
		{"docs/contributing-a-widget.md", false, 0},
		{"community/4.0-announcement.md", true, 0},
		{"use/migration-guide.html", true, 0},
		{"guides/migrating-from-kiln.md", true, 0},
		{"guides/upgrading-to-5.md", true, 0},
		{"migration/kettle-to-boiler.md", true, 0},
		{"migration/operator-migration.md", true, 0},
		{"migration/status.md", false, 0},
		{"topics/migrations.md", false, 0},
		{"guides/data-migration.md", false, 0},
		{"admin/upgrading-a-cluster.md", false, 0},
		{"https://e.org/3.11/library/os.html", false, parseVersion("3.11")},
		{"https://e.org/v2/x", false, parseVersion("v2")},
		{"https://e.org/stable/x", false, latest},
		{"https://e.org/2024/01/x", false, parseVersion("01")},
		{"docs/10.20.30.40/x", false, 0},
	} {
		if got := IsSecondaryPage(tt.address); got != tt.aside {
			t.Errorf("%s is aside: %v", tt.address, got)
		}
		if _, got := versionOf(tt.address); got != tt.version {
			t.Errorf("%s has version %x, want %x", tt.address, got, tt.version)
		}
	}
	for _, tt := range []struct {
		older, newer string
		want         bool
	}{
		{"3.9", "3.11", true}, {"3.11", "3.9", false}, {"v1", "v2", true}, {"1.2", "1.2.1", true}, {"3.11", "stable", true},
		{"15", "current", true}, {"15", "16", false}, {"3.11", "3.11", false},
	} {
		if got := parseVersion(tt.older).olderThan(parseVersion(tt.newer)); got != tt.want {
			t.Errorf("%s is older than %s: %v", tt.older, tt.newer, got)
		}
	}
}

func TestTrimAddress(t *testing.T) {
	for _, tt := range []struct{ address, want string }{
		{"https://docs.e.org/3/library/os.html#os.walk", "3/library/os os.walk"},
		{"https://e.org", ""},
		{"https://e.org/a.b/c?x=1", "a.b/c"},
		{"docs/guide/install.md:120", "docs/guide/install"},
		{"README", "README"},
		{"", ""},
	} {
		if got := trimAddress(tt.address); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.address, got, tt.want)
		}
	}
}

// The work for a query is bounded: what does not fit is ignored before the analysis.
func TestEndlessQuery(t *testing.T) {
	x := build(t, []uint32{0}, []Fields{{Title: "Pipelines", Body: "Pipelines run jobs in stages.", Address: "https://e.org/ci.html"}})
	words := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " word%d", i)
		}
		return b.String()
	}
	work := func(text string) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, _, err := x.Search(Query{Text: text, Limit: 5}); err != nil {
				t.Error(err)
			}
		})
	}
	if long, short := work(words(100_000)), work(words(2000)); long > 2*short {
		t.Errorf("a query of 100,000 words makes %.0f allocations, one of 2,000 %.0f", long, short)
	}
}
