package load

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/viper"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
)

// CheckEnvironment reports variables of the environment with invalid values, and unknown
// ones whose names start with DOCSEARCH_. The environment is like that of os.Environ. Load
// does not check, because a snapshot of the config is valid for all values.
func (r *Result) CheckEnvironment(environment []string) {
	const prefix = "DOCSEARCH_"
	var known []string // without the prefix
	for _, name := range config.Variables() {
		if own, isOwn := strings.CutPrefix(name, prefix); isOwn {
			known = append(known, own)
		}
	}
	for _, o := range config.Overrides() {
		known = append(known, o.Env[len(prefix):])
	}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		own, isOwn := strings.CutPrefix(name, prefix)
		p := decode.Problem{Field: "$" + name}
		switch {
		case own == "MCP_TOOL" && isOwn && value != "" && !config.IsSearchTool(value):
			p.Expected, p.Got, p.Effect = decode.SearchToolName, strconv.Quote(value), "ignored"
		case isOwn && !slices.Contains(known, own):
			p.Unknown, p.Expected = "variable", "to list them, run docsearch config show --env"
			if near := decode.Nearest(own, known); near != "" {
				p.Expected = fmt.Sprintf("did you mean %s?", prefix+near)
			}
		default:
			continue
		}
		r.Problems = append(r.Problems, p)
	}
	r.sortProblems()
}

// applyOverride applies an environment variable to a value of the file through viper.
func applyOverride(v *viper.Viper, o config.Override, values map[string]any) error {
	key := o.Section + delimiter + o.Field
	if err := v.BindEnv(key, o.Env); err != nil {
		return err
	}
	if os.Getenv(o.Env) == "" {
		return nil
	}
	section, ok := values[o.Section].(map[string]any)
	if !ok {
		section = map[string]any{}
		values[o.Section] = section
	}
	section[o.Field] = Value(o.Kind, v.GetString(key))
	return nil
}

// Value converts the text of an environment variable or of an argument. A text of another
// kind stays as it is, so that decode reports it.
func Value(kind config.Kind, text string) any {
	switch kind {
	case config.KindNumber:
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case config.KindFlag:
		switch strings.ToLower(text) {
		case "1", "true", "yes", "on":
			return true
		case "0", "false", "no", "off":
			return false
		}
	case config.KindList:
		list := []any{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		return list
	}
	return text
}
