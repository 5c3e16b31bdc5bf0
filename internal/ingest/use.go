package ingest

import (
	"math"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// useOf is what the fields of front matter say of a document's use. What is of
// a wrong type says nothing.
func useOf(fields map[string]any) passage.Use {
	u := passage.Use{Tags: termsOf(fields["tags"])}
	u.Pinned, _ = fields["pinned"].(bool)
	switch n := fields["priority"].(type) {
	case int: // YAML
		u.Priority = clamp(int64(n))
	case int64: // TOML
		u.Priority = clamp(n)
	case float64:
		u.Priority = clamp(int64(math.Round(max(-maxPriority, min(maxPriority, n)))))
	}
	when, _ := fields["applies_when"].(map[string]any)
	u.When = passage.When{
		Tools: listOf(when["tools"]), Paths: listOf(when["paths"]),
		Commands: listOf(when["commands"]), Languages: listOf(when["languages"]),
	}
	return u
}

// maxPriority is how far from the usual a document's priority can be.
const maxPriority = 10

func clamp(n int64) int { return int(max(-maxPriority, min(maxPriority, n))) }

// listOf are the strings of a list, or a string alone.
func listOf(value any) []string {
	var list []string
	switch value := value.(type) {
	case string:
		list = append(list, value)
	case []any:
		for _, v := range value {
			if s, ok := v.(string); ok && s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}
