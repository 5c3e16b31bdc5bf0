package lexical

import (
	"slices"
	"strings"
	"testing"
)

// manual returns an index of a few passages about files, where "error" is a subject.
func manual(tb testing.TB) *Index {
	tb.Helper()
	fields := []Fields{
		{Title: "open", Body: "Opens a file and returns a stream. Raises an error if there is no such file."},
		{Title: "Error levels", Body: "The error level of a stream: error, warning, notice."},
		{Title: "Error handling", Body: "Handle the error in a callback with prisma."},
		{Title: "rename", Body: "Renames a folder. The folder must exist."},
		{Title: "Deployment", Body: "Deploy to a server and rename the folder of releases."},
	}
	return build(tb, make([]uint32, len(fields)), fields)
}

func TestWording(t *testing.T) {
	x := manual(t)
	for _, test := range []struct{ text, want string }{
		{"rename folder", "rename folder"},
		{"site:docs.example.org rename folder", "rename folder"},
		{"rename folder official documentation 2026", "rename folder"},
		{"best practices rename folder 2026", "rename folder"},
		{"rename folder example code", "rename folder"},
		{"rename folder example", "rename folder example"},
		{"rename folder fix solution", "rename folder"},
		{"stack overflow rename folder", "rename folder"},
		{"error handling tutorial", "error handling"}, // a subject of the index
		{"widget 3.2 rename folder", "widget rename folder"},
		{"rename folder v3", "rename folder"},
		{"http 2 rename", "http 2 rename"},
		{"docker 20.10 rename", "docker 20.10 rename"},
		{"### 4.2. Rename a folder¶", "Rename a folder"},
		{"3.5 folders", "folders"},
		{"#>>", "#>>"}, // an operator
		{"#> folder", "#> folder"},
		{"==", "=="},
		{`"official guide" rename folder documentation`, `"official guide" rename folder`}, // quoted words are content
		{"“example code” rename", `"example code" rename`},
		{`folder 5" documentation`, `folder 5"`},
		{`folder title:"the tutorial" docs`, `folder title:"the tutorial"`},
		{"documentation tutorial", "documentation tutorial"}, // nothing else is left
		{"", ""},
	} {
		got, err := x.Wording(Query{Text: test.text, Names: []string{"widget"}, Version: "3.2"})
		if err != nil || strings.Join(strings.Fields(got), " ") != test.want {
			t.Errorf("wording of %q is %q, %v, want %q", test.text, got, err, test.want)
		}
	}
}

func FuzzWording(f *testing.F) {
	f.Add("## 1.2 site:x.y widget 3.11 docs, 2026 (v3) better-widget error¶", "3.2")
	x := manual(f)
	f.Fuzz(func(t *testing.T, text, version string) {
		got, err := x.Wording(Query{Text: text, Names: []string{"widget"}, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > len(text) {
			t.Errorf("wording of %q is %q", text, got)
		}
		if _, _, err := x.Search(Query{Text: text, Names: []string{"widget"}, Version: version, Limit: 5}); err != nil {
			t.Error(err)
		}
	})
}

func TestVersion(t *testing.T) {
	for _, test := range []struct {
		text, version string
		want          versionRelation
	}{
		{"widget rename folder", "3.11", noVersion},
		{"widget 3.11 rename", "3.11", sameVersion},
		{"widget 3.11.4 rename", "3.11", sameVersion},
		{"widget 3.11.4 rename", "3.11.2-6+deb12u1", sameVersion},
		{"widget 3.8 rename", "1:3.11.2-6+deb12u1", olderMinor},
		{"widget 3.11 rename", "v3.11.0-rc.1", sameVersion},
		{"widget 3.16 rename", "v0.316.0", sameVersion},
		{"widget 2.53 rename", "v0.316.0", olderMajor},
		{"blue widget 3.8 rename", "3.11", olderMinor},
		{"widget 3 rename", "3.11", sameVersion},
		{"widget 3.8 rename", "3.11", olderMinor},
		{"widget 3.12 rename", "3.11", newerMinor},
		{"widget 2 rename", "3.11", olderMajor},
		{"widget v4 rename", "3.11", newerMajor},
		{"widget version 4.0 rename", "3.11", newerMajor},
		{"migrate widget 2.7 to 3.11", "3.11", sameVersion},
		{"rename in 3.12", "3.11", newerMinor},
		{"rename 17.2 folders", "3.11", noVersion}, // too far from the index's version
		{"docker 3.12 rename", "3.11", noVersion},  // another's version
		{"http 2 rename", "3.11", noVersion},
		{"rename with schema v13", "3.11", noVersion}, // too far, too
		{"widget 2026 rename", "3.11", noVersion},
		{"widget 4 rename", "", noVersion},
	} {
		got, other := markVersions(framedWords(test.text), []string{"widget", "blue widget"}, ownNumbers(test.version))
		if got != test.want {
			t.Errorf("%q against %q: %d, want %d", test.text, test.version, got, test.want)
		}
		if (other != "") != (test.want > sameVersion) || !strings.Contains(test.text, other) {
			t.Errorf("%q against %q: the other version is %q", test.text, test.version, other)
		}
	}
}

func TestCorrection(t *testing.T) {
	x := manual(t)
	for text, want := range map[string]string{
		"fodler":  "folder", // a swap
		"foldder": "folder",
		"foler":   "folder",
		"falder":  "folder",
		"streem":  "stream",
		"renaime": "renam",
		"zzqqxx":  "",
		"FODLER":  "", // a name
		"fold3r":  "",
		"odler":   "", // another first letter
		"widget":  "",
	} {
		p, err := x.plan(&Query{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if i := slices.IndexFunc(p.terms, func(t queryTerm) bool { return t.misspelled != "" }); i >= 0 {
			got = p.terms[i].term
		}
		stem := x.analyzer.stemOf(want)
		if want != "" && got != stem && got != want || want == "" && got != "" {
			t.Errorf("%q is corrected to %q, want %q", text, got, want)
		}
	}
}

func TestIntent(t *testing.T) {
	x := manual(t)
	for _, test := range []struct {
		text                               string
		news, opinion, others, othersFirst bool
	}{
		{"rename a folder", false, false, false, false},
		{"widget release date", true, false, false, false},
		{"widget cve-2024-1234 patched", true, false, false, false},
		{"widget vs gadget which is better", false, true, false, false},
		{"should i learn widget", false, true, false, false},
		{"error handling best practices", false, false, false, false},
		{"widget with kubernetes", false, false, true, false},
		{"kubernetes widget", false, false, true, true},
		{"better-widget rename", false, false, true, true},
		{"rename-widget folder", false, false, false, false}, // the index has the rest
		{"go up", false, false, false, false},
	} {
		in, err := x.interpret(&Query{Text: test.text, Names: []string{"widget"}})
		if err != nil {
			t.Fatal(err)
		}
		got := [4]bool{in.news > 0, in.opinion > 0, in.otherSoftware > 0, in.otherSoftwareFirst > 0}
		if want := [4]bool{test.news, test.opinion, test.others, test.othersFirst}; got != want {
			t.Errorf("%q asks for %v, want %v: %+v", test.text, got, want, in)
		}
	}
}

// lookup needs sorted lines.
func TestTechnologyIsSorted(t *testing.T) {
	var names []string
	for line := range strings.Lines(technology) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || value != "." || name != strings.ToLower(name) {
			t.Errorf("line %q is not a name in lower case and a dot", line)
		}
		if !isTechnology(name) {
			t.Errorf("%q is not found", name)
		}
		names = append(names, name)
	}
	if !slices.IsSorted(names) || len(slices.Compact(names)) < len(names) {
		t.Error("the names are not sorted or not unique")
	}
}
