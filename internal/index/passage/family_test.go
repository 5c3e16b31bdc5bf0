package passage

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe returns the members of each family in the order of their ranks, and documents
// without a family that are old.
func describe(keys []string, next []bool) string {
	families := map[int][]string{}
	var b strings.Builder
	members := Families(keys, next)
	for i, m := range members {
		if m.Family > 0 {
			for len(families[m.Family]) <= m.Rank {
				families[m.Family] = append(families[m.Family], "")
			}
			text := keys[i]
			if m.Language != "" {
				text += " " + m.Language
			}
			if m.Version != nil {
				text += fmt.Sprint(" ", m.Version)
			}
			if m.Old {
				text += " old"
			}
			if m.Translated {
				text += " translated"
			}
			families[m.Family][m.Rank] = text
		} else if m.Old {
			fmt.Fprintf(&b, "old: %s\n", keys[i])
		}
	}
	for n := range len(families) {
		fmt.Fprintln(&b, strings.Join(families[n+1], ", "))
	}
	return b.String()
}

// tree returns the names below each folder.
func tree(folders string, names ...string) (keys []string) {
	for _, folder := range strings.Fields(folders) {
		for _, name := range names {
			keys = append(keys, strings.TrimPrefix(folder+"/"+name, "./"))
		}
	}
	return keys
}

func TestFamilies(t *testing.T) {
	for _, test := range []struct {
		name string
		keys []string
		want string // the first line
		n    int    // of families
	}{
		{"Docusaurus", tree("docs versioned_docs/version-1.0 versioned_docs/version-2.0 i18n/fr/docusaurus-plugin-content-docs/current i18n/ja/docusaurus-plugin-content-docs/version-2.0", "a.md"),
			"docs/a.md, i18n/fr/docusaurus-plugin-content-docs/current/a.md fr translated, versioned_docs/version-2.0/a.md [2 0] old, " +
				"i18n/ja/docusaurus-plugin-content-docs/version-2.0/a.md ja [2 0] old translated, versioned_docs/version-1.0/a.md [1 0] old", 1},
		{"Docusaurus below website", tree("docs website/versioned_docs/version-1.0", "a.md"),
			"docs/a.md, website/versioned_docs/version-1.0/a.md [1 0] old", 1},
		{"Docusaurus with several documentations", tree("community community_versioned_docs/version-3", "a.md"),
			"community/a.md, community_versioned_docs/version-3/a.md [3] old", 1},
		{"a next version of Docusaurus", append(tree("docs versioned_docs/version-2.0 versioned_docs/version-1.0", "a.md"),
			"versioned_docs/version-1.0/b.md"), "versioned_docs/version-2.0/a.md [2 0], versioned_docs/version-1.0/a.md [1 0] old, docs/a.md", 1},
		{"a stable and a development version", tree("stable dev", "a.md", "b.md", "c.md"), "stable/a.md, dev/a.md", 3},
		{"folders for developers", tree("api/stable api/edge", "a.md", "index.md"), "", 0},
		{"archived versions of Docusaurus", tree("docs versioned_docs_archived/version-3.x", "a.md"),
			"docs/a.md, versioned_docs_archived/version-3.x/a.md [3] old", 1},
		{"a page that the current version lacks", append(tree("docs", "a.md"), "versioned_docs/version-1.0/b.md"),
			"old: versioned_docs/version-1.0/b.md", 0},
		{"languages next to pages", tree("docs docs/ja docs/zh-CN", "a.md", "index.md"),
			"docs/a.md, docs/ja/a.md ja translated, docs/zh-CN/a.md zh translated", 2},
		{"one language next to pages", tree("docs docs/zh", "a.md", "b.md"),
			"docs/a.md, docs/zh/a.md zh translated", 2},
		{"a folder for each language", tree("content/en content/de content/pt-br", "docs/a.md"),
			"content/en/docs/a.md en, content/de/docs/a.md de translated, content/pt-br/docs/a.md pt translated", 1},
		{"a folder of translations", append(tree(".", "docs/a.md"), tree("i18n/cs", "docs/a.md")...),
			"docs/a.md, i18n/cs/docs/a.md cs translated", 1},
		{"addresses", tree("https://e.org/en https://e.org/fr https://e.org/es", "a.html", "b.html"),
			"https://e.org/en/a.html en, https://e.org/es/a.html es translated, https://e.org/fr/a.html fr translated", 2},
		{"constants", []string{"cmp_LT_OQ.md", "cmp_LE_OQ.md", "cmp.md", "cmp_NL_US.md"},
			"", 0},
		{"suffixes", []string{"README.md", "README.fr.md", "README_ja.md", "README-zh-CN.md"},
			"README.md, README.fr.md fr translated, README_ja.md ja translated, README-zh-CN.md zh translated", 1},
		{"suffixes of rarer languages", []string{"a.mdx", "a.es.mdx", "a.fr.mdx"}, "a.mdx, a.es.mdx es translated, a.fr.mdx fr translated", 1},
		{"suffixes behind the ending", []string{"install.html.en", "install.html.fr"}, "install.html.en en, install.html.fr fr translated", 1},
		{"a suffix without a sibling", []string{"page.fr.md", "other.md"}, "", 0},
		{"versions", tree("1.0 1.10 1.9", "a.md", "b.md"), "1.10/a.md [1 10], 1.9/a.md [1 9] old, 1.0/a.md [1 0] old", 2},
		{"index pages of folders", tree("api/4x api/5x", "request/index.md", "response/index.md"),
			"api/5x/request/index.md [5], api/4x/request/index.md [4] old", 2},
		{"latest", tree("docs/v1.2 docs/latest docs/main", "a.md", "b.md"),
			"docs/latest/a.md, docs/v1.2/a.md [1 2] old, docs/main/a.md", 2},
		{"versions next to pages", tree("docs docs/2.x", "a.md", "b.md", "c.md"), "docs/a.md, docs/2.x/a.md [2] old", 3},
		{"numbers with a latest version", tree("docs/14 docs/15 docs/current", "a.md", "b.md"),
			"docs/current/a.md, docs/15/a.md [15] old, docs/14/a.md [14] old", 2},
		{"languages and versions", tree("en/4x en/5x fr/4x fr/5x", "a.md", "b.md"),
			"en/5x/a.md en [5], fr/5x/a.md fr [5] translated, en/4x/a.md en [4] old, fr/4x/a.md fr [4] old translated", 2},

		{"programming languages", tree("docs docs/cs docs/go docs/js", "install.md", "client.md", "errors.md", "auth.md"), "", 0},
		{"a programming language", tree("docs docs/cs", "index.md", "install.md"), "", 0},
		{"a parameter", tree("api/users api/users/id", "index.md", "get.md", "delete.md"), "", 0},
		{"names that end like languages", []string{"user.md", "user_id.md", "group.md", "group_id.md", "check-in.md", "check.md"}, "", 0},
		{"functions and chapters", []string{"sort.md", "sort_ro.md", "xfunc.html", "xfunc-pl.html", "Frame.html", "Frame.lt.html", "Frame.ne.html"}, "", 0},
		{"countries", tree("tax/de", "income.md"), "", 0},
		{"chapters", tree("book/1 book/2 book/3", "index.md", "exercises.md", "solutions.md", "summary.md"), "", 0},
		{"sections of manuals", append(tree("man/1", "ls.1", "cat.1"), tree("man/3", "printf.3", "scanf.3")...), "", 0},
		{"years", tree("2023 2024", "a.md", "b.md", "c.md"), "", 0},
		{"release notes", tree("releases/1.0 releases/1.1", "added.md", "fixed.md", "removed.md"), "", 0},
		{"migrations", tree("migration/v1 migration/v2", "config.md", "plugins.md"), "", 0},
		{"index pages of numbers", tree("spec/v1 spec/v2", "index.md", "README.md"), "", 0},
		{"dates", tree("minutes/2024-01 minutes/2024-02", "a.md", "b.md"), "", 0},
		{"equal names in folders", tree("a b c", "index.md", "install.md"), "", 0},
		{"two endings", []string{"x.c", "x.h", "x.md"}, "", 0},
	} {
		next := make([]bool, len(test.keys))
		for i, key := range test.keys {
			next[i] = strings.HasPrefix(test.name, "a next version") && strings.HasPrefix(key, "docs/")
		}
		got := describe(test.keys, next)
		first, _, _ := strings.Cut(got, "\n")
		families := 0
		for _, m := range Families(test.keys, next) {
			families = max(families, m.Family)
		}
		if first != test.want || families != test.n {
			t.Errorf("%s: %d families, want %d:\n%swant first:\n%s", test.name, families, test.n, got, test.want)
		}
	}
}

func TestFamiliesDoNotDependOnOrder(t *testing.T) {
	keys := tree("docs docs/ja docs/v1 docs/v2 docs/v1/ja", "a.md", "b.md", "c.md")
	want := map[string]Member{}
	for i, m := range Families(keys, nil) {
		m.Family = 0 // numbers follow the order of the documents
		want[keys[i]] = m
	}
	slices.Reverse(keys)
	for i, m := range Families(keys, nil) {
		if m.Family = 0; fmt.Sprint(m) != fmt.Sprint(want[keys[i]]) {
			t.Errorf("%s: %+v in reverse order, %+v before", keys[i], m, want[keys[i]])
		}
	}
}
