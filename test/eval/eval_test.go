package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/eval"
)

func TestVariants(t *testing.T) {
	q := &eval.Query{ID: "cmake:q1", Set: "cmake", Text: "How to set warning level in CMake?"}
	want := map[string]string{
		"plain":        "How to set warning level in CMake?",
		"site: prefix": "site:cmake.org How to set warning level in CMake?",
		"name, version, keywords, documentation 2026": "cmake 3.25 set warning level documentation 2026",
		"tutorial guide":         "How to set warning level in CMake tutorial guide",
		"one word misspelled":    "How to set warnnig level in CMake?",
		"error fix solution":     "How to set warning level in CMake error fix solution",
		"name and version first": "CMake 3.25 How to set warning level in CMake?",
		"official documentation": "How to set warning level in CMake official documentation",
		"best practices 2026":    "How to set warning level in CMake best practices 2026",
		"2026":                   "How to set warning level in CMake 2026",
		"how can I":              "how can I set warning level in CMake?",
		"last words first":       "in CMake How to set warning level",
		"name and version last":  "How to set warning level in CMake cmake 3.25",
		"pasted page title":      "How to set warning level in CMake — CMake 3.25 documentation",
		"pasted heading":         "### 4.2. How to set warning level in CMake¶",
		"trailing punctuation":   "How to set warning level in CMake ...?!",
		"stackoverflow":          "How to set warning level in CMake stackoverflow",
		"example code":           "How to set warning level in CMake example code",
		"one word in quotes":     `How to set "warning" level in CMake?`,
		"upper case":             "HOW TO SET WARNING LEVEL IN CMAKE?",
		"please help":            "please help, I am trying to find out: how to set warning level in CMake? thanks in advance",
	}
	got := map[string]string{}
	for _, v := range allVariants {
		got[v.name] = v.form(q, manualNamed("cmake"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMisspelled(t *testing.T) {
	m := manualNamed("git")
	for _, text := range []string{"Can I", "git GIT", "How to use HEAD~1?", "aaaaaa"} {
		if got := misspelled(&eval.Query{ID: "x", Text: text}, m); got != text {
			t.Errorf("%q became %q: it has no word to misspell", text, got)
		}
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		const text = "rename branches everywhere"
		got := misspelled(&eval.Query{ID: id, Text: text}, m)
		if len(got) != len(text) || got == text || got[0] != 'r' {
			t.Errorf("ID %s: %q", id, got)
		}
	}
}

func TestNameRules(t *testing.T) {
	for _, test := range []struct{ set, title, want string }{
		{"python", "argparse — Parser for command-line options, arguments and sub-commands &#8212; Python 3.11.2 documentation", "argparse"},
		{"python", "email.mime: Creating email and MIME objects from scratch &#8212; Python 3.11.2 documentation", "email.mime"},
		{"python", "Event Loop &#8212; Python 3.11.2 documentation", ""},
		{"postgresql", "pg_dump", "pg_dump"},
		{"git", "git-add(1)", "git-add"},
		{"git", "Git User Manual", ""},
		{"cmake", "add_library &mdash; CMake 3.25.1 Documentation", "add_library"},
		{"nodejs", "Zlib | Node.js v18.20.4 Documentation", "Zlib"},
		{"nodejs", "File system | Node.js v18.20.4 Documentation", ""},
	} {
		got := ""
		if name := nameRules[test.set][0].title.FindStringSubmatch(pageTitle(test.title)); name != nil {
			got = name[1]
		}
		if got != test.want {
			t.Errorf("%s: the name of %q is %q, want %q", test.set, test.title, got, test.want)
		}
	}
}

func TestSources(t *testing.T) {
	lib := passageIndex{
		"/m/git/git-add.html#_options": {set: "git", page: "git-add.html", anchors: []string{"_options", "_examples"}},
		"/m/git/git-add.html#_name":    {set: "git", page: "git-add.html"},
		"/m/docker/run.md.gz":          {set: "docker", page: "run.md"},
		"/m/docker/run.md.gz:12":       {set: "docker", page: "run.md"},
		"/m/docker/run.md.gz:20":       {set: "docker", page: "run.md"},
	}
	context := "Passages found.\n\n[1] A\nSource: /m/git/git-add.html#_options (release notes)\n```\nText\n```\n\n[2] ... > B (c) (#_name)\n```\nText\n```\n\n[3] C\nSource: /m/docker/run.md.gz:12\n\n[4] ... > D (:20)\n\n[5] ... > E (f)\n\n[6] C\nSource: ...:12\n"
	found := sources(context)
	if want := []string{"/m/git/git-add.html#_options", "/m/git/git-add.html#_name", "/m/docker/run.md.gz:12", "/m/docker/run.md.gz:20", "/m/docker/run.md.gz", "/m/docker/run.md.gz:12"}; !slices.Equal(found, want) {
		t.Fatalf("sources %q, want %q", found, want)
	}
	for _, test := range []struct {
		set, place string
		want       bool
	}{
		{"git", "git-add.html", true}, {"git", "git-add.html#_examples", true}, {"git", "git-add.html#_name", false},
		{"git", "add.html", false}, {"docker", "git-add.html", false}, {"docker", "run.md", true},
	} {
		got, err := lib.containsAny(found, test.set, []string{test.place})
		if err != nil || got != test.want {
			t.Errorf("%s of %s: %t, %v, want %t", test.place, test.set, got, err, test.want)
		}
	}
	if got, err := lib.containsAny([]string{"/m/git/git-add.html#_opt [...]"}, "git", []string{"git-add.html"}); err != nil || !got {
		t.Errorf("a truncated source: %t, %v", got, err)
	}
	if _, err := lib.containsAny([]string{"/elsewhere"}, "git", nil); err == nil {
		t.Error("no error for an unknown source")
	}
}

func TestCostTexts(t *testing.T) {
	const reason = "Found.\nTo search further:\nmcp__docsearch__search {\"query\": \"a {b}\", \"after\": \"k3f9\"}\nOr retry.\n"
	if got, err := namedCall(reason); err != nil || string(got) != `{"query": "a {b}", "after": "k3f9"}` {
		t.Errorf("call %s, %v", got, err)
	}
	if _, err := namedCall("Found.\nmcp__docsearch__read {}\n"); err == nil {
		t.Error("no error for a denial without a search call")
	}
	result := "2 passages.\n\n1. A\n```\nknown line\nnew\n```\n\n2. B\n````\n```sh\nbrand new line\n```\n````\n"
	texts := fencedTexts(result)
	if want := []string{"known line\nnew\n", "```sh\nbrand new line\n```\n"}; !slices.Equal(texts, want) {
		t.Fatalf("texts %q, want %q", texts, want)
	}
	const context = "[1] A\n```\nknown line\nothers\n```"
	if known, fresh := knownPart(texts[0], context), knownPart(texts[1], context); known < knownShare || fresh >= knownShare {
		t.Errorf("known parts %.2f and %.2f", known, fresh)
	}
	if n := tokens("two words"); n != 2 {
		t.Errorf("%d tokens", n)
	}
	for share, want := range map[float64]int{0: 1, .5: 3, .9: 5, 1: 5} {
		if got := quantile([]int{1, 2, 3, 4, 5}, share); got != want {
			t.Errorf("quantile %.1f is %d, want %d", share, got, want)
		}
	}
}

func TestPlainWords(t *testing.T) {
	if got := plainWords("The *first*\n`select()`  “call”"); got != "the first select() call" {
		t.Errorf("%q", got)
	}
}
