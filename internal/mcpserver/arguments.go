package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A param describes one argument of a tool and where its value goes. The schema
// of a tool, the decoding of its arguments, and the error messages are all
// derived from one list of params.
type param struct {
	name        string
	target      any // *string, *[]string, *stringList, *int or *bool; holds the default
	description string
	required    bool
	min, max    int      // of an int; larger values are reduced to max
	choices     []string // allowed values of a string
	aliases     []string // other names that agents use
}

// A stringList usually has one element: the schema declares a string, but
// decoding also accepts a list.
type stringList []string

// schema returns the JSON Schema of the params. It uses plain types only,
// because unions such as ["null", "array"] have made clients send invalid JSON,
// and some clients reject them.
func schema(params []param) json.RawMessage {
	type property struct {
		Type        string            `json:"type"`
		Items       map[string]string `json:"items,omitempty"`
		Description string            `json:"description"`
		Enum        []string          `json:"enum,omitempty"`
		Minimum     *int              `json:"minimum,omitempty"`
		Maximum     *int              `json:"maximum,omitempty"`
		Default     any               `json:"default,omitempty"`
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	required := []string{}
	for i, p := range params {
		s := property{Description: p.description, Enum: p.choices}
		switch to := p.target.(type) {
		case *string:
			s.Type = "string"
			if *to != "" {
				s.Default = *to
			}
		case *stringList:
			s.Type = "string"
		case *[]string:
			s.Type, s.Items = "array", map[string]string{"type": "string"}
		case *int:
			s.Type, s.Minimum, s.Default = "integer", &p.min, *to
			if p.max > 0 {
				s.Maximum = &p.max
			}
		case *bool:
			s.Type, s.Default = "boolean", *to
		}
		if p.required {
			required = append(required, p.name)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(mustJSON(p.name) + ":" + mustJSON(s))
	}
	b.WriteString(`},"required":` + mustJSON(required) + `,"additionalProperties":false}`)
	return json.RawMessage(b.String())
}

// mustJSON encodes values that cannot fail to encode.
func mustJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("docsearch: internal error: " + err.Error())
	}
	return string(data)
}

// decode stores the arguments of a call, as decoded by encoding/json, in the
// params. Clients pass on model output unchecked, so decode accepts everything
// with only one possible meaning: a known alias, a number in quotes, one string
// for a list, a list in a string, the whole object in a string. Its errors are
// written for the model.
func decode(tool string, params []param, arguments any) error {
	if text, ok := arguments.(string); ok {
		// A doubly encoded object.
		var inner any
		if json.Unmarshal([]byte(text), &inner) == nil {
			arguments = inner
		}
	}
	object, ok := arguments.(map[string]any)
	if !ok && arguments != nil {
		return fmt.Errorf("invalid arguments of %s: want an object, got %s; %s", tool, abbreviate(arguments),
			usage(tool, params))
	}
	given := make(map[string]string) // param name -> name in the call
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value := object[name]
		i := slices.IndexFunc(params, func(p param) bool { return p.matches(name) })
		if i < 0 {
			return fmt.Errorf("unknown argument %q; %s", name, usage(tool, params))
		}
		p := params[i]
		if value == nil {
			continue // treated as omitted
		}
		if other, twice := given[p.name]; twice {
			return fmt.Errorf("%q and %q are the same argument: pass %s only", other, name, p.name)
		}
		given[p.name] = name
		if err := p.set(value); err != nil {
			return fmt.Errorf("invalid %s: %w; %s", p.name, err, usage(tool, params))
		}
	}
	for _, p := range params {
		if _, ok := given[p.name]; p.required && (!ok || isEmpty(p.target)) {
			return fmt.Errorf("%s is required; %s", p.name, usage(tool, params))
		}
	}
	return nil
}

// matches reports whether name means p. Case, hyphens and underscores are
// ignored: top_k, topK, top-k.
func (p param) matches(name string) bool {
	name = normalizeName(name)
	return name == normalizeName(p.name) ||
		slices.ContainsFunc(p.aliases, func(a string) bool { return name == normalizeName(a) })
}

func normalizeName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

func (p param) set(value any) error {
	switch to := p.target.(type) {
	case *string:
		s, ok := asString(value)
		if !ok {
			return fmt.Errorf("want a string, got %s", abbreviate(value))
		}
		return p.setString(to, strings.TrimSpace(s))
	case *[]string:
		list, ok := asList(value)
		if !ok {
			return fmt.Errorf("want an array of strings, got %s", abbreviate(value))
		}
		*to = list
	case *stringList:
		list, ok := asList(value)
		if !ok {
			return fmt.Errorf("want a string (several names separated by commas), got %s", abbreviate(value))
		}
		*to = list
	case *int:
		n, ok := asInt(value)
		if !ok || n < p.min {
			return fmt.Errorf("want a whole number from %d to %d, got %s", p.min, p.max, abbreviate(value))
		}
		*to = min(n, p.max)
	case *bool:
		v, ok := asBool(value)
		if !ok {
			return fmt.Errorf("want true or false, got %s", abbreviate(value))
		}
		*to = v
	}
	return nil
}

func (p param) setString(to *string, s string) error {
	if p.choices == nil {
		*to = s
		return nil
	}
	i := slices.IndexFunc(p.choices, func(c string) bool { return strings.EqualFold(c, s) })
	if i < 0 {
		return fmt.Errorf("want one of %s, got %s", strings.Join(p.choices, ", "), abbreviate(s))
	}
	*to = p.choices[i]
	return nil
}

// asString accepts a string, a number, a boolean, or a list of these.
func asString(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	case []any:
		var parts []string
		for _, e := range v {
			s, ok := asString(e)
			if !ok {
				return "", false
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, " "), true
	}
	return "", false
}

// asList accepts a list, one string, a JSON list in a string, or a
// comma-separated string. It drops empty and repeated elements.
func asList(value any) ([]string, bool) {
	var parts []any
	switch v := value.(type) {
	case []any:
		parts = v
	case string:
		if json.Unmarshal([]byte(v), &parts) != nil {
			parts = nil
			for s := range strings.SplitSeq(v, ",") {
				parts = append(parts, s)
			}
		}
	default:
		parts = []any{v}
	}
	var list []string
	listed := make(map[string]bool)
	for _, e := range parts {
		if e == nil {
			continue
		}
		if _, nested := e.([]any); nested {
			return nil, false
		}
		s, ok := asString(e)
		if !ok {
			return nil, false
		}
		if s = strings.TrimSpace(s); s != "" && !listed[s] {
			list, listed[s] = append(list, s), true
		}
	}
	return list, true
}

func asInt(value any) (int, bool) {
	f, ok := value.(float64)
	if s, isString := value.(string); isString {
		var err error
		f, err = strconv.ParseFloat(strings.TrimSpace(s), 64)
		ok = err == nil
	}
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<31 {
		return 0, false
	}
	return int(f), true
}

func asBool(value any) (v, ok bool) {
	switch value := value.(type) {
	case bool:
		return value, true
	case float64:
		return value != 0, value == 0 || value == 1
	case string:
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "true", "yes", "on", "1":
			return true, true
		case "false", "no", "off", "0", "":
			return false, true
		}
	}
	return false, false
}

func isEmpty(to any) bool {
	switch to := to.(type) {
	case *string:
		return *to == ""
	case *[]string:
		return len(*to) == 0
	}
	return false
}

// usage describes the arguments of a tool: "search takes query (required), …".
func usage(tool string, params []param) string {
	if len(params) == 0 {
		return tool + " takes no arguments"
	}
	var names []string
	for _, p := range params {
		switch {
		case p.required:
			names = append(names, p.name+" (required)")
		case p.choices != nil:
			names = append(names, p.name+" ("+strings.Join(p.choices, " or ")+")")
		default:
			names = append(names, p.name)
		}
	}
	return tool + " takes " + strings.Join(names, ", ")
}

// abbreviate formats a wrong value for an error, truncated if it is long.
func abbreviate(value any) string {
	const limit = 60
	s := mustJSON(value)
	if len(s) > limit {
		s = truncate(s, limit) + "…"
	}
	return s
}
