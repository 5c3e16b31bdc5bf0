package recipes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	mit    = "Permission is hereby granted, free of\ncharge, to any person obtaining a copy"
	apache = "                Apache License\n           Version 2.0, January 2004\n"
	bsd    = "Redistributions in binary form ... and/or other materials provided with the\ndistribution."
	isc    = "Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted"
	sphinx = "API\n===\n\n.. autoclass:: Tool\n   :members:\n"
	prose  = "# Turn the crank\n\nThe crank turns.\n"
	vite   = "# Turn the crank\n\n::: tip\nTurn it slowly.\n:::\n"
	module = "# Crank\n\n::: widgets.crank\n"
	page   = "# Crank\n\nA crank turns the widget that it is fixed to.\n"
)

func TestFaults(t *testing.T) {
	pages := func(folders ...string) (files []string) {
		for _, folder := range folders {
			for i := range 6 {
				files = append(files, fmt.Sprintf("%s/page%d.md", folder, i))
			}
		}
		return files
	}
	for name, test := range map[string]struct {
		recipe string // replaces the line of ref
		read   Reading
		want   string // "": no fault
	}{
		"released":            {`ref = "v{version}.*"`, Reading{Files: pages("docs"), NewestTag: "v2.1", IsTagged: true, Licenses: []string{mit}}, ""},
		"unreleased":          {"", Reading{Files: pages("docs"), NewestTag: "v2.1"}, "unreleased: "},
		"a branch by choice":  {`ref = "main"`, Reading{Files: pages("docs"), NewestTag: "v2.1"}, ""},
		"a tagged branch":     {"", Reading{Files: pages("docs"), NewestTag: "v2.1", IsTagged: true}, ""},
		"no tags":             {"", Reading{Files: pages("docs")}, ""},
		"languages":           {"", Reading{Files: pages("docs/en", "i18n/fr/docs", "i18n/pt-BR/docs")}, "several languages: fr (6 documents), pt-BR (6 documents)"},
		"languages by ending": {"", Reading{Files: []string{"README.md", "README.zh-CN.md", "README.ja.md"}}, "several languages: "},
		"one folder of a name": {"", Reading{Files: pages("docs", "docs/de")},
			"several versions or dialects: "},
		"one language":       {"", Reading{Files: pages("docs/en")}, ""},
		"versions":           {"", Reading{Files: pages("versioned_docs/version-1.0", "versioned_docs/version-2.0")}, "several versions or dialects: versioned_docs/version-1.0 and versioned_docs/version-2.0 have 6 pages"},
		"index pages":        {"", Reading{Files: []string{"a/index.md", "b/index.md", "c/index.md"}}, ""},
		"blog":               {"", Reading{Files: pages("content/docs", "content/blog/2019")}, "wider than the documentation: content/blog (6 documents)"},
		"hidden":             {"", Reading{Files: pages("docs", ".github")}, "wider than the documentation: .github "},
		"generated":          {"", Reading{Files: pages("docs"), Root: root(pages("docs"), sphinx)}, "generated elsewhere: 6 of 6 documents"},
		"containers":         {"", Reading{Files: pages("docs"), Root: root(pages("docs"), vite)}, ""},
		"docstrings":         {"", Reading{Files: pages("docs"), Root: root(pages("docs"), module)}, "generated elsewhere: 6 of 6 documents"},
		"docstrings at hand": {"", Reading{Files: pages("docs"), Root: withFile(root(pages("docs"), module), "widgets/__init__.py", "def crank():\n    \"\"\"Turn a widget.\"\"\"\n")}, ""},
		"methods of classes": {"", Reading{Files: pages("docs"), Root: root(pages("docs"), ".. class:: Tool\n\n   .. automethod:: turn\n")}, ""},
		"components":         {"", Reading{Files: pages("docs"), Root: root(pages("docs"), "<Autofunction function=\"crank\" />")}, "generated elsewhere: 6 of 6 documents"},
		"same text":          {"", Reading{Files: pages("v1", "v2"), Root: root(pages("v1", "v2"), page)}, "several versions or dialects: v1 and v2 have 6 pages"},
		"same names alone":   {"", Reading{Files: pages("small", "large"), Root: methods("small", "large")}, ""},
		"part of many pages": {"", Reading{Files: append(pages("locator", "handle"), many(60)...), Root: root(pages("locator", "handle"), page)}, ""},
		"written":            {"", Reading{Files: pages("docs"), Root: root(pages("docs"), prose)}, ""},
		"license":            {"", Reading{Files: pages("docs"), Licenses: []string{"GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007"}}, "wrong license: MIT OR Apache-2.0, but the license file of the repository is GPL-3.0"},
		"one of the two":     {"", Reading{Files: pages("docs"), Licenses: []string{apache}}, ""},
		"license of texts":   {`ref = "v{version}.*" # CC-BY-4.0`, Reading{Files: pages("docs"), Licenses: []string{mit}}, ""},
		"another of texts":   {`ref = "v{version}.*" # CC-BY-4.0`, Reading{Files: pages("docs"), Licenses: []string{"CC0 1.0 Universal"}}, "wrong license: CC-BY-4.0, "},
		"methods":            {"", Reading{Files: append(pages("methods/small", "methods/large"), pages("methods/large/a", "methods/large/b/c")...)}, ""},
		"license of others":  {"", Reading{Files: pages("docs"), Licenses: []string{"All rights reserved."}}, ""},
	} {
		text := strings.Replace(valid, `ref = "v{version}.*"`, test.recipe, 1)
		if !strings.Contains(test.recipe, placeholder) {
			text = strings.Replace(text, `version = "2.1"`, "", 1)
			text = strings.Replace(text, "/{version}/", "/", 1)
		}
		if strings.Contains(test.recipe, "CC-BY") {
			text = strings.Replace(text, "MIT OR Apache-2.0", "CC-BY-4.0", 1)
		}
		r, err := Parse("tool", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		faults := r.Faults(&test.read)
		if test.want == "" && len(faults) > 0 || test.want != "" && !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, test.want) }) {
			t.Errorf("%s: %q, want %q", name, faults, test.want)
		}
	}
}

// root returns a folder with files of the same text.
func root(files []string, text string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, file := range files {
		fsys[file] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// many returns n pages of different names.
func many(n int) (files []string) {
	for i := range n {
		files = append(files, fmt.Sprintf("guide/step%d.md", i))
	}
	return files
}

// withFile adds a file to a folder.
func withFile(fsys fstest.MapFS, name, text string) fstest.MapFS {
	fsys[name] = &fstest.MapFile{Data: []byte(text)}
	return fsys
}

// methods returns a folder with the same six pages for each class, whose texts differ.
func methods(classes ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, class := range classes {
		for i := range 6 {
			text := fmt.Sprintf("# Method\n\nMethod %d of a %s widget turns its own crank.\n", i, class)
			fsys[fmt.Sprintf("%s/page%d.md", class, i)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return fsys
}

func TestLicenseOf(t *testing.T) {
	for text, want := range map[string]string{
		mit:    "MIT",
		apache: "Apache-2.0",
		"GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3, 19 November 2007":                                    "AGPL-3.0",
		"Mozilla Public License Version 2.0\n1.12 means the GNU Affero General Public License, Version 3.0":  "MPL-2.0",
		"GNU LESSER GENERAL PUBLIC LICENSE\n Version 2.1, February 1999":                                     "LGPL-2.1",
		"Creative Commons Attribution-ShareAlike 4.0 International Public License":                           "CC-BY-SA-4.0",
		"Attribution 4.0 International\n\n====":                                                              "CC-BY-4.0",
		bsd + " THIS SOFTWARE IS PROVIDED":                                                                   "BSD-2-Clause",
		bsd + " 3. Neither its name nor its contributors may be used to endorse or promote products derived": "BSD-3-Clause",
		mit + "\n\nOf others:\n" + bsd + " THIS SOFTWARE IS PROVIDED":                                        "MIT",
		isc + ", provided":           "ISC",
		isc + ".\n\nTHE SOFTWARE IS": "0BSD",
		"Ask us.":                    "",
	} {
		if got := licenseOf(text); got != want {
			t.Errorf("licenseOf(%.40q) = %q, want %q", text, got, want)
		}
	}
}
