package rank

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// topics are the pages of a manual, in English and in French.
var topics = map[string][2]string{
	"configure": {"# Configure the kiln\n\nWrite the heat and the pots into kiln.yaml. The kiln reads its configuration when it starts.\n",
		"# Configurer le four\n\nÉcrivez la chaleur et les pots dans kiln.yaml. Le four lit sa configuration quand il démarre.\n"},
	"install": {"# Install the kiln\n\nUnpack the archive, and put the program kiln into a folder of the path.\n",
		"# Installer le four\n\nDécompressez l'archive, et mettez le programme kiln dans un dossier du chemin.\n"},
	"fuel": {"# Fuel\n\nThe kiln burns wood and gas. It mixes both at night.\n",
		"# Combustible\n\nLe four brûle du bois et du gaz. Il mélange les deux la nuit.\n"},
	"glaze": {"# Glazes\n\nA glaze melts at a heat of its own, which the label of the bucket lists.\n",
		"# Émaux\n\nUn émail fond à sa propre chaleur, que l'étiquette du seau indique.\n"},
}

// Of the translations and versions of a page, a search returns the one for its reader,
// whatever the layout of the files.
func TestLayoutsOfTranslationsAndVersions(t *testing.T) {
	const english, french = 0, 1
	type layout map[string]int // language by the path of a page, with * for its name
	for name, test := range map[string]struct {
		layout
		current, french, old string // "": the layout has none
	}{
		"Docusaurus": {layout{"docs/*.md": english, "versioned_docs/version-1.0/*.md": english, "i18n/fr/docusaurus-plugin-content-docs/current/*.md": french},
			"docs/*.md", "i18n/fr/docusaurus-plugin-content-docs/current/*.md", "versioned_docs/version-1.0/*.md"},
		"folders next to pages":       {layout{"docs/*.md": english, "docs/fr/*.md": french}, "docs/*.md", "docs/fr/*.md", ""},
		"a folder for each language":  {layout{"content/en/*.md": english, "content/fr/*.md": french}, "content/en/*.md", "content/fr/*.md", ""},
		"a folder of translations":    {layout{"docs/*.md": english, "i18n/fr/docs/*.md": french}, "docs/*.md", "i18n/fr/docs/*.md", ""},
		"suffixes":                    {layout{"*.md": english, "*.fr.md": french}, "*.md", "*.fr.md", ""},
		"suffixes behind the ending":  {layout{"*.html.en": english, "*.html.fr": french}, "*.html.en", "*.html.fr", ""},
		"versions":                    {layout{"v1.0/*.md": english, "v2.0/*.md": english}, "v2.0/*.md", "", "v1.0/*.md"},
		"a latest version":            {layout{"docs/1.0/*.md": english, "docs/latest/*.md": english}, "docs/latest/*.md", "", "docs/1.0/*.md"},
		"languages, then versions":    {layout{"en/1.0/*.md": english, "en/2.0/*.md": english, "fr/1.0/*.md": french, "fr/2.0/*.md": french}, "en/2.0/*.md", "fr/2.0/*.md", "en/1.0/*.md"},
		"versions, then languages":    {layout{"1.0/en/*.md": english, "2.0/en/*.md": english, "1.0/fr/*.md": french, "2.0/fr/*.md": french}, "2.0/en/*.md", "2.0/fr/*.md", "1.0/en/*.md"},
		"the original is not English": {layout{"fr/*.md": french, "en/*.md": english}, "en/*.md", "fr/*.md", ""},
	} {
		dir, files := t.TempDir(), map[string]string{}
		for pattern, language := range test.layout {
			for topic, texts := range topics {
				text := texts[language]
				if strings.Contains(pattern, ".html") {
					heading, body, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
					text = "<h1>" + heading + "</h1><p>" + body
				}
				files[strings.Replace(pattern, "*", topic, 1)] = text
			}
		}
		ingesttest.WriteFiles(t, dir, files)
		db := build(t, dir, folder.Options{})
		for query, want := range map[string]string{
			"how to configure the kiln": test.current, "configure the kiln version 1.0": test.old,
			"configurer le four kiln.yaml": test.french, "configure the kiln in French": test.french,
		} {
			if want == "" {
				continue
			}
			r, err := db.Search(t.Context(), index.Query{Text: query})
			if err != nil {
				t.Fatal(err)
			}
			got := pages(t, db, &r)
			if len(got) == 0 || got[0] != strings.Replace(want, "*", "configure", 1) {
				t.Errorf("%s: %q: %q, want %s first", name, query, got, want)
			}
			for topic := range topics {
				n := 0
				for _, page := range got {
					if strings.Contains(page, topic) {
						n++
					}
				}
				if n > 1 {
					t.Errorf("%s: %q: %d pages of %s in %q", name, query, n, topic, got)
				}
			}
		}
	}
}

// A number of one digit finds a document with zeros before it.
func TestNumberedDocuments(t *testing.T) {
	for _, test := range []struct{ page, text, query, want string }{
		{"adr/ADR-%03d.md", "# ADR-%03d: A decision\n\n", "adr 7", "adr/ADR-007.md"},
		{"adr/%04d-decision.md", "# ADR-%04d: A decision\n\n", "what does ADR 4 decide", "adr/0004-decision.md"},
		{"pep-%04d.rst", "PEP %d\n======\n\n", "pep 8", "pep-0008.rst"},
		{"peps/pep-%04d.md", "# PEP-%04d\n\n", "PEP 3", "peps/pep-0003.md"},
		{"keps/%d/README.md", "# KEP-%d: Clay\n\n", "kep 6", "keps/6/README.md"},
		{"rfcs/%04d.md", "# RFC-%04d\n\n", "rfc 9", "rfcs/0009.md"},
	} {
		dir, files := t.TempDir(), map[string]string{}
		for i := range 12 {
			body := fmt.Sprintf("Pots of kind %c are fired after those of kind %c.\n", 'A'+i, 'M'+i)
			files[fmt.Sprintf(test.page, i+1)] = fmt.Sprintf(test.text, i+1) + body
		}
		ingesttest.WriteFiles(t, dir, files)
		db := build(t, dir, folder.Options{})
		r, err := db.Search(t.Context(), index.Query{Text: test.query})
		if err != nil {
			t.Fatal(err)
		}
		if got := pages(t, db, &r); len(got) == 0 || got[0] != test.want {
			t.Errorf("%q: %q, want %s first", test.query, got, test.want)
		}
	}
}

// The exact name of an option is enough for an answer, also of a small database.
func TestNamesOfOptions(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"options.md": "# Options of kiln\n\n## Heat\n\nPass `--fast-heat` to heat quickly, and `--no-fan` to do so in silence. `-Wno-glaze` hides warnings.\n\n" +
			"## Fuel\n\nSet `KILN_FUEL` to wood or gas. `fuel.mix_ratio` in kiln.yaml mixes both.\n",
		"pots.md":  "# Pots\n\nCall `kiln.fire(pots)` to fire them. `Kiln::Pot` has a size. `<kiln-shelf>` shows them.\n",
		"other.md": "# Clay\n\nClay is dug in spring, and rests for a year. It is kneaded twice.\n",
	})
	db := build(t, dir, folder.Options{})
	for query, page := range map[string]string{
		"--fast-heat": "options.md", "kiln --fast-heat": "options.md", "what does --no-fan do": "options.md", "--no-fan option": "options.md",
		"-Wno-glaze": "options.md", "kiln -Wno-glaze warning": "options.md", "KILN_FUEL": "options.md", "KILN_FUEL values": "options.md",
		"fuel.mix_ratio": "options.md", "kiln.fire": "pots.md", "kiln.fire(pots)": "pots.md", "Kiln::Pot": "pots.md", "kiln-shelf": "pots.md",
		"--slow-heat": "", "kiln.freeze": "",
	} {
		r, err := db.Search(t.Context(), index.Query{Text: query, Names: []string{"kiln"}})
		if err != nil {
			t.Fatal(err)
		}
		got := pages(t, db, &r)
		if r.Confident != (page != "") || page != "" && (len(got) == 0 || got[0] != page) {
			t.Errorf("%q: confident %v (%.2f), %q; want %q", query, r.Confident, r.Confidence, got, page)
		}
	}
}

// pages returns the paths of the hits' pages below the source.
func pages(t *testing.T, db *index.Database, r *index.Result) (list []string) {
	t.Helper()
	for _, h := range r.Hits {
		page, err := filepath.Rel(db.Info().Source.Root, filepath.FromSlash(h.Path))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, filepath.ToSlash(page))
	}
	return list
}
