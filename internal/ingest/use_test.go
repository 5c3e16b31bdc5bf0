package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
)

func TestUseOfFrontMatter(t *testing.T) {
	full := passage.Use{
		Tags: []string{"go", "errors"}, Pinned: true, Priority: 3,
		When: passage.When{Tools: []string{"Edit"}, Paths: []string{"**/*.go", "go.mod"}, Commands: []string{"go test"}, Languages: []string{"go"}},
	}
	for _, test := range []struct {
		name, in string
		want     passage.Use
	}{
		{"YAML", "---\ntags: [go, errors]\npinned: true\npriority: 3\napplies_when:\n  tools: Edit\n  paths: ['**/*.go', go.mod]\n  commands: [go test]\n  languages: [go]\n---\ntext\n", full},
		{"TOML", "+++\ntags = [\"go\", \"errors\"]\npinned = true\npriority = 3\n[applies_when]\ntools = [\"Edit\"]\npaths = [\"**/*.go\", \"go.mod\"]\ncommands = [\"go test\"]\nlanguages = [\"go\"]\n+++\ntext\n", full},
		{"tags with commas", "---\ntags: go, errors\n---\ntext\n", passage.Use{Tags: []string{"go", "errors"}}},
		{"nothing", "---\ntitle: T\n---\ntext\n", passage.Use{}},
		{"no front matter", "text\n", passage.Use{}},
		{"wrong types", "---\npinned: often\npriority: high\napplies_when: [a]\ntags: 7\n---\ntext\n", passage.Use{}},
		{"too far", "---\npriority: 1e300\napplies_when: {paths: [1, '', a], tools: {}}\n---\ntext\n", passage.Use{Priority: maxPriority, When: passage.When{Paths: []string{"a"}}}},
		{"negative", "---\npriority: -4\n---\ntext\n", passage.Use{Priority: -4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc := markdownOf(t, test.in)
			if diff := cmp.Diff(test.want, doc.use); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// It comes back from the line of a passage.
			p := passage.Passage{ID: "1", Text: "text"}
			p.SetUse(doc.use)
			back, err := passage.Decode(p.AppendLine(nil))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, back.Use()); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}
