package installed

import (
	"slices"
	"strings"
	"testing"
)

// Change logs are excluded under any name, and the rest says how much is documented.
func TestAssess(t *testing.T) {
	long := func(s string, size int) string { return strings.Repeat(s, size/len(s)+1) }
	text := long("Steep the leaves for two minutes.\n", minManual)
	comments := long("/** Steeps the leaves. */\nexport declare function steep(): void;\n", 4*minComments)
	kept := "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n\n### Added\n\n" +
		"## [1.1.0] - 2026-01-01\n\n### Fixed\n\n## 1.0.0\n"
	history := "1.3.0 / 2026-01-03\n==================\n\n * fix\n\n" +
		"1.2.0 / 2026-01-02\n==================\n\n * fix\n\n1.1.0\r\n=====\r\n"
	for _, tt := range []struct {
		name     string
		files    []string
		want     Extent
		excluded string
	}{
		{"README", []string{"README.md=" + text}, OnlyReadme, ""},
		{"README in other languages, a guide to another version",
			[]string{"README.de.md=" + text, "README_zh.md=" + text, "MIGRATION_GUIDE.md=" + text}, OnlyReadme, ""},
		{"pages", []string{"README.md=x", "docs/steep.md=" + text}, Manual, ""},
		{"a short page", []string{"README.md=" + text, "docs/steep.md=x"}, OnlyReadme, ""},
		{"type declarations with comments", []string{"index.d.ts=" + comments}, Comments, ""},
		{"type declarations without",
			[]string{"index.d.ts=" + strings.ReplaceAll(comments, "/**", "//")}, OnlyReadme, ""},
		{"comments of Go",
			[]string{"a.go=" + long("// Steep steeps the leaves.\nfunc Steep() {}\n", 4*minComments)}, Comments, ""},
		{"docstrings",
			[]string{"a.py=" + long("def steep():\n    \"\"\"Steep the leaves.\"\"\"\n", 4*minComments)}, Comments, ""},
		{"logs by name", []string{"History.md=" + text, "CHANGES=" + text, "NEWS.rst=" + text, "RELEASES.md=" + text,
			"docs/changelog.md=" + text}, OnlyReadme, "/CHANGES /History.md /NEWS.rst /RELEASES.md /docs/changelog.md"},
		{"logs by content", []string{"docs/past[1].md=" + kept + text, "docs/old.md=" + history + text}, OnlyReadme,
			"/docs/old.md /docs/past\\[1].md"},
		{"a page with that name", []string{"docs/history.md=" + text}, Manual, ""},
		{"a page that names versions",
			[]string{"docs/use.md=# Use\n\n## Brew\n\n## Pour\n\n## 1.0 and before\n\n" + text}, Manual, ""},
		{"a README with a log at its end", []string{"README.md=" + kept + text}, OnlyReadme, ""},
	} {
		dir := t.TempDir()
		write(t, dir, tt.files...)
		d := Documentation{Folder: dir}
		got, err := Assess(t.Context(), &d)
		slices.Sort(d.Exclude)
		excluded := strings.Join(d.Exclude, " ")
		if err != nil || got != tt.want || excluded != tt.excluded || d.Files != len(tt.files)-len(d.Exclude) {
			t.Errorf("%s: %d, excluded %s, %d files, %v; want %d, %s", tt.name, got, excluded, d.Files, err, tt.want,
				tt.excluded)
		}
	}
}
