package recipes

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source/include"
)

// A Reading is what a build of the recipe read.
type Reading struct {
	Files     []string // slash-separated paths of the documents
	Root      fs.FS    // their contents; nil: pages of a site
	Licenses  []string // texts of the license files of the repository
	NewestTag string   // the version tag of the repository that is not older than any other; ""
	IsTagged  bool     // the commit has a version tag
}

// Faults returns the reasons why the documents are not the documentation of one release.
func (r *Recipe) Faults(read *Reading) []string {
	var faults []string
	add := func(fault string) {
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	if r.Source.Git != "" && r.Source.Ref == "" && read.NewestTag != "" && !read.IsTagged {
		add(fmt.Sprintf("unreleased: it reads the default branch, but the repository has the tag %s: want ref",
			read.NewestTag))
	}
	add(severalLanguages(read.Files))
	add(severalEditions(read.Root, read.Files))
	add(widerThanDocumentation(read.Files))
	if read.Root != nil {
		add(generatedElsewhere(read.Root, read.Files))
	}
	add(wrongLicense(r.License, read.Licenses))
	return faults
}

// languagePattern matches the names of folders with translations. Short names that are also
// words or programming languages, such as "go" and "is", are not listed.
var languagePattern = document.Lazily(`(?i)^(ar|cs|da|de|el|es|fa|fi|fr|he|hi|hu|id|it|ja|jp|ko|kr|nl|pl|pt|` +
	`ro|ru|sv|th|tr|uk|vi|zh|(es|pt|zh)[-_](419|br|cn|es|hans|hant|hk|mx|pt|tw))$`)

// severalLanguages reports documents in more than one language: folders or endings of two
// languages, such as docs/fr/a.md and a.ja.md. One name alone may be anything.
func severalLanguages(files []string) string {
	languages := map[string]int{}
	for _, file := range files {
		parts := strings.Split(file, "/")
		base := strings.Split(parts[len(parts)-1], ".")
		parts = parts[:len(parts)-1]
		if len(base) > 2 {
			parts = append(parts, base[len(base)-2])
		}
		for _, part := range parts {
			if languagePattern().MatchString(part) {
				languages[part]++
				break
			}
		}
	}
	if len(languages) < 2 {
		return ""
	}
	return "several languages: " + counted(languages) + ": want exclude"
}

// severalEditions reports two folders in the same one, or one in the other, that contain pages
// of the same names, as those of two versions, dialects, or translations do. Pages that share
// little text, such as the guides of two clients, are not editions of each other, and two
// folders that are a small part of the documentation, such as two classes, are no editions of it.
func severalEditions(root fs.FS, files []string) string {
	const (
		least = 5   // pages in common
		share = 0.6 // of the smaller folder, and half of the other
		part  = 0.2 // of all documents
	)
	pages := map[string]map[string]bool{} // paths below a folder, by the folder
	for _, file := range files {
		for i, c := range file {
			if c != '/' {
				continue
			}
			folder := file[:i]
			if pages[folder] == nil {
				pages[folder] = map[string]bool{}
			}
			pages[folder][file[i+1:]] = true
		}
	}
	maps.DeleteFunc(pages, func(_ string, below map[string]bool) bool { return len(below) < least })
	folders := slices.Sorted(maps.Keys(pages))
	for i, a := range folders {
		for _, b := range folders[i+1:] {
			smaller, other := pages[a], pages[b]
			if len(smaller) > len(other) {
				smaller, other = other, smaller
			}
			if path.Dir(b) != path.Dir(a) && path.Dir(b) != a {
				continue
			}
			var both []string
			for page := range smaller {
				if other[page] {
					both = append(both, page)
				}
			}
			if len(both) >= least && float64(len(both)) >= share*float64(len(smaller)) && 2*len(both) >= len(other) &&
				float64(2*len(both)) >= part*float64(len(files)) && (root == nil || shareText(root, a, b, both)) {
				return fmt.Sprintf("several versions or dialects: %s and %s have %d pages of the same names: "+
					"want include of one", a, b, len(both))
			}
		}
	}
	return ""
}

// shareText reports whether the pages in folder a have enough lines that are also in the
// pages of the same names in folder b. Short lines, such as brackets and headings that all
// pages have, do not count. Editions of Preact, SolidStart, k6, and Azure CLI share 41 to 98%,
// pages about clients, frameworks, and languages with the same outline at most 26%.
func shareText(root fs.FS, a, b string, pages []string) bool {
	const (
		shortest = 30 // bytes
		share    = 0.4
	)
	lines := func(name string) []string {
		text, err := fs.ReadFile(root, name)
		if err != nil { // a folder's index may have no file of its own
			return nil
		}
		return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return len(line) < shortest })
	}
	all, both := 0, 0
	for _, page := range pages {
		others := map[string]bool{}
		for _, line := range lines(path.Join(b, page)) {
			others[line] = true
		}
		for _, line := range lines(path.Join(a, page)) {
			all++
			if others[line] {
				both++
			}
		}
	}
	return all > 0 && float64(both) >= share*float64(all)
}

// notDocumentation are names of folders whose files do not document a program.
var notDocumentation = []string{"__tests__", "_drafts", "_posts", "archived", "blog", "changelogs", "drafts",
	"fixtures", "meetings", "minutes", "news", "node_modules", "proposals", "rfcs", "testdata", "vendor"}

// widerThanDocumentation reports documents in folders of other kinds, and hidden ones.
func widerThanDocumentation(files []string) string {
	others := map[string]int{}
	for _, file := range files {
		folders := strings.Split(path.Dir(file), "/")
		for i, name := range folders {
			if slices.Contains(notDocumentation, strings.ToLower(name)) || len(name) > 1 && name[0] == '.' {
				others[strings.Join(folders[:i+1], "/")]++
				break
			}
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "wider than the documentation: " + counted(others) + ": want exclude"
}

// generatedPattern matches a line that another program replaces with text from source code:
// a directive of Sphinx, mkdocstrings, mdBook, or Doxygen, or the component of Streamlit. A
// name without a dot after ":::" is a container, such as "::: tip". Indented directives do not
// count: they are details, such as the methods of a described class.
var generatedPattern = document.Lazily(`(?m)^(` +
	`\.\. (auto[a-z]+|doxygen[a-z]+|js:auto[a-z]+|click|argparse|program-output|typer)::|` +
	`::: [A-Za-z_]\w*\.[\w.]+[ \t]*$|\{\{#rustdoc_include |<Autofunction )`)

// generatedElsewhere reports pages that the repository has only the frame of. A frame whose
// text docsearch finds in the repository, such as the docstring of a class, is none.
func generatedElsewhere(root fs.FS, files []string) string {
	const (
		least = 3
		share = 0.1
	)
	frames, example := 0, ""
	for _, file := range files {
		text, err := fs.ReadFile(root, file)
		if err != nil || !generatedPattern().Match(text) {
			continue
		}
		page := include.Expand(contents{root}, file, document.SplitLines(text))
		if len(page.Reference) == 0 && !generatedPattern().MatchString(strings.Join(page.Lines, "\n")) {
			continue
		}
		if frames++; example == "" {
			example = file
		}
	}
	if frames < least || float64(frames) < share*float64(len(files)) {
		return ""
	}
	return fmt.Sprintf("generated elsewhere: %s of %s take text from source code, such as %s: want site",
		humanize.Thousands(frames), humanize.Count(len(files), "document"), example)
}

// contents are the files that a page of the recipe may include.
type contents struct{ fs.FS }

func (c contents) Read(name string) (string, error) {
	text, err := fs.ReadFile(c, name)
	return string(text), err
}

func (c contents) List(folder string) (names []string) {
	fs.WalkDir(c, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// licenseTexts are the SPDX identifiers of licenses, without "-only" and "-or-later", and
// words of their texts, without commas and quotation marks.
var licenseTexts = []struct{ id, words string }{
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"AGPL-3.0", "gnu affero general public license version 3"},
	{"LGPL-2.1", "gnu lesser general public license version 2.1"},
	{"LGPL-3.0", "gnu lesser general public license version 3"},
	{"GPL-3.0", "gnu general public license version 3"},
	{"GPL-2.0", "gnu general public license version 2"},
	{"GFDL-1.3", "gnu free documentation license version 1.3"},
	{"Apache-2.0", "apache license version 2.0"},
	{"EPL-2.0", "eclipse public license - v 2.0"},
	{"CC-BY-NC-SA-4.0", "attribution-noncommercial-sharealike 4.0 international"},
	{"CC-BY-SA-4.0", "attribution-sharealike 4.0 international"},
	{"CC-BY-4.0", "attribution 4.0 international"},
	{"CC-BY-SA-3.0", "attribution-sharealike 3.0"},
	{"CC-BY-3.0", "attribution 3.0"},
	{"CC0-1.0", "cc0 1.0 universal"},
	{"BSD-3-Clause", "contributors may be used to endorse or promote products derived"},
	{"BSD-2-Clause", "materials provided with the distribution. this software is provided"},
	{"ISC", "distribute this software for any purpose with or without fee is hereby granted provided"},
	{"0BSD", "distribute this software for any purpose with or without fee is hereby granted. the software"},
	{"MIT", "permission is hereby granted free of charge to any person obtaining a copy"},
}

// licenseOf returns the license that a text is, without "-only" and "-or-later"; "" if it is
// none of the known ones. The first license counts: many name others further on.
func licenseOf(text string) string {
	text = strings.Join(strings.Fields(strings.NewReplacer(",", "", "\"", "").Replace(strings.ToLower(text))), " ")
	first, id := len(text), ""
	for _, l := range licenseTexts {
		if at := strings.Index(text, l.words); at >= 0 && at < first {
			first, id = at, l.id
		}
	}
	return id
}

// wrongLicense reports a license that is none of those in the repository. NOASSERTION
// claims nothing. A license for texts may be stated on the site, next to the file with the
// license of the code.
func wrongLicense(license string, texts []string) string {
	var found []string
	for _, text := range texts {
		if id := licenseOf(text); id != "" && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	if isForTexts(license) {
		found = slices.DeleteFunc(found, func(id string) bool { return !isForTexts(id) })
	}
	if len(found) == 0 || license == "NOASSERTION" {
		return ""
	}
	for _, id := range strings.Fields(license) {
		if slices.Contains(found, strings.TrimSuffix(strings.TrimSuffix(id, "-only"), "-or-later")) {
			return ""
		}
	}
	return fmt.Sprintf("wrong license: %s, but the license file of the repository is %s", license,
		strings.Join(found, ", "))
}

func isForTexts(license string) bool {
	return strings.HasPrefix(license, "CC") || strings.HasPrefix(license, "GFDL")
}

// counted returns names with their counts, such as "blog (12), news (3)": the most frequent
// three.
func counted(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, name := range names[:min(3, len(names))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", name, humanize.Count(counts[name], "document")))
	}
	return strings.Join(parts, ", ")
}
