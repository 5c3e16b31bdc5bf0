package ingest

import (
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

// Tables of contents are in no passage, whatever their format.
func TestContents(t *testing.T) {
	const sections = "\n## Filling\n\nOpen the lid.\n\n## Boiling water\n\nPress the `--boil` key.\n\n### Descaling\n\nUse vinegar.\n"
	const links = "- [Filling](#filling)\n- [Boiling water](#boiling)\n  - [Descaling](#descaling)\n"
	const listed = "Boiling water\n- Descaling"
	const names = "- `fill`\n- `boil`\n- `descale`\n"
	for _, tt := range []struct {
		name, file, text string
		kept             string // of the list; "": nothing
	}{
		{"after the title", "a.md", "# Kettle\n\n" + links + sections, ""},
		{"after a paragraph", "a.md", "# Kettle\n\nIt heats water.\n\n" + links + sections, ""},
		{"labeled", "a.md", "# Kettle\n\n" + strings.Repeat("It heats water. ", 20) + "\n\n## Table of Contents\n\n" + links + sections, ""},
		{"label in bold", "a.md", "# Kettle\n\n" + strings.Repeat("It heats water. ", 20) + "\n\n## Use\n\n**Contents:**\n" + links + sections, ""},
		{"wrapped", "a.md", "# Kettle\n\n" + strings.Replace(links, "[Boiling ", "[Boiling\n  ", 1) + sections, ""},
		{"HTML", "a.html", "<html><body><main><h1>Kettle</h1><p>Contents</p><ul><li><a href=#f>Filling</a></li><li><a href=#b>1. Boiling water</a><ul>" +
			"<li><a href=#d>1.1 Descaling</a></li></ul></li></ul><h2 id=f>Filling</h2><p>Open.</p><h2 id=b>Boiling water</h2><p>Press.</p><h3 id=d>Descaling</h3><p>Use vinegar.</p></main></body></html>", ""},
		{"reStructuredText", "a.rst", "Kettle\n======\n\n* Filling_\n* `Boiling water`_\n* Descaling_\n\nFilling\n-------\n\nOpen.\n\nBoiling water\n-------------\n\nPress.\n\nDescaling\n---------\n\nUse vinegar.\n", ""},
		{"AsciiDoc", "a.adoc", "= Kettle\n\n* <<f,Filling>>\n* <<b,Boiling water>>\n* <<d,Descaling>>\n\n[[f]]\n== Filling\n\nOpen.\n\n[[b]]\n== Boiling water\n\nPress.\n\n[[d]]\n== Descaling\n\nUse vinegar.\n", ""},

		{"described", "a.md", "# Kettle\n\n" + strings.ReplaceAll(links, ")\n", ") of a kettle\n") + sections, "[Descaling](#descaling) of"},
		{"part of a sentence", "a.md", "# Kettle\n\nIt is used by:\n\n" + links + sections, "[Descaling](#descaling)"},
		{"in the text", "a.md", "# Kettle\n\n" + strings.Repeat("It heats water. ", 20) + "\n\n## Changes\n\n" + links + sections, "[Descaling](#descaling)"},
		{"no links", "a.md", "# Kettle\n\n- Filling\n- " + listed + "\n" + sections, listed},
		{"of other pages", "a.md", "# Kettle\n\n- [Filling](#filling)\n- [Pots](pots.md)\n- [Pans](pans.md)\n" + sections, "[Pans]"},
		{"in code", "a.md", "# Kettle\n\n```\n" + links + "```\n" + sections, "[Descaling](#descaling)"},
		{"names", "a.html", "<html><body><main><h1>Commands</h1><ul><li><code>fill</code></li><li><code>boil</code></li><li><code>descale</code></li></ul>" +
			"<h2>fill</h2><p>Open.</p><h2>boil</h2><p>Press.</p><h2>descale</h2><p>Use vinegar.</p></main></body></html>", names},
		{"few of the sections", "a.md", "# Kettle\n\n" + links + sections + strings.Repeat("\n## Other\n\nAnother one.\n", 5), "[Descaling](#descaling)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			ingesttest.WriteFiles(t, dir, map[string]string{tt.file: tt.text})
			passages, _ := prepare(t, dir)
			var text strings.Builder
			for _, p := range passages {
				text.WriteString(p.Text + "\n")
			}
			got := text.String()
			want := tt.kept != ""
			if has := strings.Contains(got, "- [") || strings.Contains(got, listed) || strings.Contains(got, "1.1 Descaling") || strings.Contains(got, names); has != want || !strings.Contains(got, tt.kept) {
				t.Errorf("list: %t, want %t\n%s", has, want, got)
			}
			for _, section := range []string{"Press", "Use vinegar."} {
				if !strings.Contains(got, section) {
					t.Errorf("without %q\n%s", section, got)
				}
			}
			if strings.Contains(strings.ToLower(got), "contents") {
				t.Errorf("with the label\n%s", got)
			}
		})
	}
}
