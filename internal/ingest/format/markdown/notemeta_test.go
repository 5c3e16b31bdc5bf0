package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

func TestNoteMeta(t *testing.T) {
	full := passage.NoteMeta{
		Tags: []string{"go", "errors"}, Pinned: true, Priority: 3,
		AppliesWhen: passage.AppliesWhen{Tools: []string{"Edit"}, Paths: []string{"**/*.go", "go.mod"}, Commands: []string{"go test"}, Languages: []string{"go"}},
	}
	for _, test := range []struct {
		name, in string
		want     passage.NoteMeta
	}{
		{"YAML", "---\ntags: [go, errors]\npinned: true\npriority: 3\napplies_when:\n  tools: Edit\n  paths: ['**/*.go', go.mod]\n  commands: [go test]\n  languages: [go]\n---\ntext\n", full},
		{"TOML", "+++\ntags = [\"go\", \"errors\"]\npinned = true\npriority = 3\n[applies_when]\ntools = [\"Edit\"]\npaths = [\"**/*.go\", \"go.mod\"]\ncommands = [\"go test\"]\nlanguages = [\"go\"]\n+++\ntext\n", full},
		{"tags with commas", "---\ntags: go, errors\n---\ntext\n", passage.NoteMeta{Tags: []string{"go", "errors"}}},
		{"nothing", "---\ntitle: T\n---\ntext\n", passage.NoteMeta{}},
		{"no front matter", "text\n", passage.NoteMeta{}},
		{"wrong types", "---\npinned: often\npriority: high\napplies_when: [a]\ntags: 7\n---\ntext\n", passage.NoteMeta{}},
		{"too far", "---\npriority: 1e300\napplies_when: {paths: [1, '', a], tools: {}}\n---\ntext\n", passage.NoteMeta{Priority: maxPriority, AppliesWhen: passage.AppliesWhen{Paths: []string{"a"}}}},
		{"texts for other types", "---\npinned: yes\npriority: '4'\n---\ntext\n", passage.NoteMeta{Pinned: true, Priority: 4}},
		{"the keys of Lore", "---\nuniversal: true\nlanguage: rust\nbash_command_starts_with: cargo\n---\ntext\n",
			passage.NoteMeta{Pinned: true, AppliesWhen: passage.AppliesWhen{Commands: []string{"cargo"}, Languages: []string{"rust"}}}},
		{"the keys of Lore below applies_when", "---\napplies_when:\n  universal: true\n  language: go\n  bash_command_starts_with: [go test, go vet]\n---\ntext\n",
			passage.NoteMeta{Pinned: true, AppliesWhen: passage.AppliesWhen{Commands: []string{"go test", "go vet"}, Languages: []string{"go"}}}},
		{"the tag of Lore", "---\ntags: [a, universal]\n---\ntext\n", passage.NoteMeta{Pinned: true, Tags: []string{"a", "universal"}}},
		{"the tag of Lore, for some calls", "---\ntags: [universal]\napplies_when: {tools: [Bash]}\n---\ntext\n",
			passage.NoteMeta{Tags: []string{"universal"}, AppliesWhen: passage.AppliesWhen{Tools: []string{"Bash"}}}},
		{"the tag of Lore, not pinned", "---\ntags: universal\npinned: false\n---\ntext\n",
			passage.NoteMeta{Tags: []string{"universal"}}},
		{"conditions outside applies_when", "---\npaths: ['src/**']\nCommands: [make]\nlanguages: [c]\n---\ntext\n",
			passage.NoteMeta{AppliesWhen: passage.AppliesWhen{Paths: []string{"src/**"}, Commands: []string{"make"}, Languages: []string{"c"}}}},
		{"singulars", "---\napplies-when: {tool: Edit, path: '*.c', command: make, language: c}\n---\ntext\n",
			passage.NoteMeta{AppliesWhen: passage.AppliesWhen{Tools: []string{"Edit"}, Paths: []string{"*.c"}, Commands: []string{"make"}, Languages: []string{"c"}}}},
		{"misspelt", "---\npined: true\nprioritty: 2\naplies_when: {comands: make, pahts: '*.c'}\n---\ntext\n",
			passage.NoteMeta{Pinned: true, Priority: 2, AppliesWhen: passage.AppliesWhen{Paths: []string{"*.c"}, Commands: []string{"make"}}}},
		{"misspelt outside applies_when", "---\ncomands: [make]\n---\ntext\n", passage.NoteMeta{AppliesWhen: passage.AppliesWhen{Commands: []string{"make"}}}},
		{"keys of other generators", "---\nlanguage: en\nlayout: post\ncategory: x\npath: /a\ncommand: docker build\nkeyword: k\ntools: [Read]\nweight: 3\n---\ntext\n", passage.NoteMeta{}},
		{"negative", "---\npriority: -4\n---\ntext\n", passage.NoteMeta{Priority: -4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := parseText(t, test.in)
			if diff := cmp.Diff(test.want, doc.NoteMeta); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// The metadata survives encoding in a passage.
			p := passage.Passage{ID: "1", Text: "text"}
			p.SetNoteMeta(doc.NoteMeta)
			back, err := passage.Decode(p.AppendLine(nil))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, back.NoteMeta()); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

// Problems with front matter are reported with their line.
func TestFrontMatterNotes(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []document.Note
	}{
		{"all is well", "---\ntitle: T\ntags: [a]\npinned: true\npriority: -10\napplies_when: {paths: [a]}\n---\ntext\n", nil},
		{"other generators", "---\nlayout: post\nlanguage: pt-BR\ncommand: docker build\npath: /a\ncategory: [x]\nparties: 3\npinned:\n---\ntext\n", nil},
		{"Lore", "---\nuniversal: false\nlanguage: go\nbash_command_starts_with: go\n---\ntext\n", nil},
		{"misspelt", "---\ntitle: T\npined: true\napplies_when:\n  comands: [make]\n---\ntext\n",
			[]document.Note{{Place: ":5", Text: `front matter: reading "comands" as "commands"`}, {Place: ":3", Text: `front matter: reading "pined" as "pinned"`}}},
		{"misspelt beside the key", "---\npinned: false\npined: true\n---\ntext\n", nil},
		{"out of range", "---\npriority: 99\n---\ntext\n", []document.Note{{Place: ":2", Text: "front matter: invalid priority 99: want a number from -10 to 10; using 10"}}},
		{"TOML", "+++\npriority = -11\n+++\ntext\n", []document.Note{{Place: ":2", Text: "front matter: invalid priority -11: want a number from -10 to 10; using -10"}}},
		{"wrong types", "---\npinned: often\npriority: high\napplies_when: [a]\n---\ntext\n", []document.Note{
			{Place: ":4", Text: "front matter: invalid applies_when [a]: want tools, paths, commands or languages"},
			{Place: ":2", Text: `front matter: invalid pinned "often": want true or false`},
			{Place: ":3", Text: `front matter: invalid priority "high": want a number from -10 to 10`},
		}},
		{"an unknown condition", "---\napplies_when:\n  files: [a]\n  paths: {a: b}\n---\ntext\n", []document.Note{
			{Place: ":3", Text: `front matter: unknown key "files" in applies_when: want tools, paths, commands or languages`},
			{Place: ":4", Text: "front matter: invalid paths map[a:b]: want a string or a list of strings"},
		}},
		{"a pattern without quotes", "---\napplies_when:\n  paths: [**/*.go]\n---\ntext\n",
			[]document.Note{{Place: ":1", Text: "front matter: cannot read: yaml: line 2: did not find expected alphabetic or numeric character; quote patterns that contain *"}}},
		{"text between breaks", "---\nNote: a: b: c\n---\ntext\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseText(t, test.in).Notes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add("pined: true\npriority: 1e300\napplies_when: {comands: [1, x], paths: {a: b}}")
	f.Add("universal: [x]\nlanguage: en\nbash_command_starts_with: 7\ntags: {}")
	f.Add("applies_when:\n  - a\n? [x]\n: y\n\"pinned\": \"\\n\"")
	f.Fuzz(func(t *testing.T, in string) {
		for _, mark := range []string{"---", "+++"} {
			h := frontMatter(document.SplitLines([]byte(mark + "\n" + in + "\n" + mark + "\ntext")))
			if p := h.noteMeta.Priority; p < -maxPriority || p > maxPriority {
				t.Errorf("priority %d", p)
			}
			for _, n := range h.notes {
				if len(n.Text) > 4<<10 || !IsFrontMatterProblem(generation.Skipped{Reason: n.Text}) {
					t.Errorf("note %q", n)
				}
			}
			h.noteMeta.AppliesWhen.Keys()
		}
	})
}
