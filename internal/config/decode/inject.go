package decode

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

func (d *decoder) inject(v any) {
	m := d.section("inject", v, "sessions", "tools", "failures", "top_k", "hybrid", "max_chars", "floor", "skip_agents")
	in := &d.config.Inject
	d.boolField(m, "inject", "sessions", &in.Sessions)
	d.boolField(m, "inject", "failures", &in.Failures)
	d.intField(m, "inject", "top_k", 1, config.MaxInject, &in.TopK)
	d.boolField(m, "inject", "hybrid", &in.Hybrid)
	d.intField(m, "inject", "max_chars", 200, 9000, &in.MaxChars)
	wrong := func(field, expected string, got any) {
		d.report("inject."+field, Problem{Entry: "inject", Field: field, Expected: expected, Got: describe(got),
			Effect: "the other items are used"})
	}
	setField(d, m, "inject", "floor", "a number from 0 to 100", &in.Floor, func(v any) (float64, bool) {
		floor, ok := decimal(v)
		return floor, ok && floor >= 0 && floor <= 100
	})
	if v, given := m["tools"]; given {
		in.Tools = nil
		known := "tools of " + strings.Join(config.InjectTools(), ", ")
		names, bad := d.words(v)
		for _, name := range names {
			i := slices.IndexFunc(config.InjectTools(), func(tool string) bool { return strings.EqualFold(tool, name) })
			if i < 0 {
				bad = append(bad, name)
				continue
			}
			in.Tools = append(in.Tools, config.InjectTools()[i])
		}
		if len(bad) > 0 {
			wrong("tools", known, bad[0])
		}
	}
	if v, given := m["skip_agents"]; given {
		var bad []any
		if in.SkipAgents, bad = d.words(v); len(bad) > 0 {
			wrong("skip_agents", "names of subagent types", bad[0])
		}
	}
}

// injectPatterns decodes a database's "inject": true, or the patterns of its notes.
func injectPatterns(v any) (patterns []string, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			patterns = []string{config.All}
		}
		return patterns, true
	case nil:
		return nil, true
	}
	patterns, bad := stringList(v)
	return patterns, len(bad) == 0
}

// words decodes a list of words, which may be empty.
func (d *decoder) words(v any) (words []string, bad []any) {
	if list, ok := v.([]any); ok && len(list) == 0 {
		return nil, nil
	}
	return stringList(v)
}
