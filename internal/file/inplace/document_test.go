package inplace

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An op is an edit of a document.
type op struct {
	name  string // "set", "append" or "remove"
	value any
	path  []any
}

func (o op) apply(d *Document) error {
	switch o.name {
	case "set":
		return d.Set(o.value, o.path...)
	case "append":
		return d.Append(o.value, o.path...)
	}
	return d.Remove(o.path...)
}

func TestEdits(t *testing.T) {
	server := struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{"/bin/x", []string{"serve"}}
	for _, test := range []struct {
		name         string
		format       Format
		style        Style
		before, want string
		op           op
	}{
		{"new object", JSONC, Spread, "{\n\t// mine\n\t\"a\": 1, // one\n}\n", "{\n\t// mine\n\t\"a\": 1, // one\n\t\"s\": {\n\t\t\"x\": {\n\t\t\t\"command\": \"/bin/x\",\n\t\t\t\"args\": [\n\t\t\t\t\"serve\"\n\t\t\t]\n\t\t}\n\t},\n}\n", op{"set", server, []any{"s", "x"}}},
		{"compact", JSONC, Spread, `{"a":1}`, `{"a":1,"s":{"x":{"command":"/bin/x","args":["serve"]}}}`, op{"set", server, []any{"s", "x"}}},
		{"short list", JSON, Short, "{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"l\": [\"x\"]\n}", op{"append", "x", []any{"l"}}},
		{"blank", JSON, Short, "", "{\n  \"l\": [\"x\"]\n}\n", op{"append", "x", []any{"l"}}},
		{"escaped name", JSON, Short, `{"\u0061": [1]}`, `{"\u0061": [1, 2]}`, op{"append", 2, []any{"a"}}},
		{"last of two", JSON, Short, `{"a": 1, "a": 2}`, `{"a": 1, "a": 3}`, op{"set", 3, []any{"a"}}},
		{"remove last of two", JSON, Short, `{"a": 1, "a": 2}`, `{"a": 1}`, op{"remove", nil, []any{"a"}}},
		{"comments stay", JSONC, Spread, "{\n  // one\n  \"a\": 1,\n  // two\n  \"b\": 2 // three\n}", "{\n  // one\n  // two\n  \"b\": 2 // three\n}", op{"remove", nil, []any{"a"}}},
		{"comment before the bracket", JSONC, Spread, "[1, // one\n 2]", "", op{"remove", nil, []any{1}}},
		{"comment in front", JSONC, Spread, "{\"l\": [1, // one\n 2]}", "{\"l\": [1 // one\n ]}", op{"remove", nil, []any{"l", 1}}},

		{"block", YAML, Short, "l:\n- a # one\n# two\nb: 1\n", "l:\n- a # one\n- \"x\"\n# two\nb: 1\n", op{"append", "x", []any{"l"}}},
		{"block in a block", YAML, Short, "l:\n  - a: 1\n    b: 2\n  - c: 3\n", "l:\n  - a: 1\n    b: 2\n    d: [\"x\"]\n  - c: 3\n", op{"append", "x", []any{"l", 0, "d"}}},
		{"flow", YAML, Short, "l: [it's, 'b''c'] # l\n", "l: [it's, 'b''c', \"x\"] # l\n", op{"append", "x", []any{"l"}}},
		{"null", YAML, Short, "l: ~\n", "l: [\"x\"]\n", op{"append", "x", []any{"l"}}},
		{"new member comes first", YAML, Spread, "s: # all\n    # a\n    a: {b: 1}\n", "s: # all\n    x:\n      command: \"/bin/x\"\n      args: [serve]\n    # a\n    a: {b: 1}\n", op{"set", server, []any{"s", "x"}}},
		{"section", YAML, Spread, "a: 1\n", "a: 1\n\ns:\n  \"true\":\n    command: \"/bin/x\"\n    args: [serve]\n", op{"set", server, []any{"s", "true"}}},
		{"remove section", YAML, Spread, "a: 1\n\ns:\n  x:\n    c: 1\n", "a: 1\n", op{"remove", nil, []any{"s"}}},
		{"remove item", YAML, Short, "l:\n  -\n    a: 1\n  - b\n", "l:\n  - b\n", op{"remove", nil, []any{"l", 0}}},
		{"plain scalar", YAML, Short, "a: one two # three\n", "a: \"x\" # three\n", op{"set", "x", []any{"a"}}},

		{"table", TOML, Spread, "a = 1", "a = 1\n[s.x]\ncommand = \"/bin/x\"\nargs = [\"serve\"]\n", op{"set", server, []any{"s", "x"}}},
		{"quoted table", TOML, Spread, "a = 1\n", "a = 1\n\n[s.\"x y\"]\ncommand = \"/bin/x\"\nargs = [\"serve\"]\n", op{"set", server, []any{"s", "x y"}}},
		{"inline table", TOML, Spread, "s = { a = {} }\n", "s = { a = {}, x = { command = \"/bin/x\", args = [\"serve\"] } }\n", op{"set", server, []any{"s", "x"}}},
		{"before the tables", TOML, Short, "[t]\na = 1\n", "l = [\"x\"]\n[t]\na = 1\n", op{"append", "x", []any{"l"}}},
		{"list of tables", TOML, Short, "[[s]]\na = '''\n[s]\n''' # a", "[[s]]\na = '''\n[s]\n''' # a\n\n[[s]]\ncommand = \"/bin/x\"\nargs = [\"serve\"]\n", op{"append", server, []any{"s"}}},
		{"member of a table", TOML, Short, "[[s]]\na = [\n  1, # one\n] # a\n\n[t]\n", "[[s]]\na = [\n  1, # one\n] # a\nb = \"x\"\n\n[t]\n", op{"set", "x", []any{"s", 0, "b"}}},
		{"remove table", TOML, Spread, "[s.a]\nb = 1\n\n[s.x]\nc = 1\n[s.x.env]\nd = 1\n\n# t\n[t]\n", "[s.a]\nb = 1\n\n# t\n[t]\n", op{"remove", nil, []any{"s", "x"}}},
	} {
		t.Run(string(test.format)+", "+test.name, func(t *testing.T) {
			d, err := Parse([]byte(test.before), test.format, test.style)
			if test.want == "" {
				if err == nil {
					t.Fatal("parsed")
				}
				return
			}
			if err == nil {
				err = test.op.apply(d)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(d.Bytes())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A layout that cannot be edited stays as it is.
func TestManualEdit(t *testing.T) {
	for _, test := range []struct {
		format Format
		text   string
		op     op
	}{
		{YAML, "a: &x [1]\nb: *x\n", op{"append", 2, []any{"a"}}},
		{YAML, "a: |\n  text\n", op{"set", "x", []any{"a"}}},
		{YAML, "a: [ # none\n]\n", op{"append", "x", []any{"a"}}},
		{YAML, "- a\n", op{"set", "x", []any{"a"}}},
		{JSON, `{"a": {}}`, op{"append", "x", []any{"a"}}},
		{JSON, `{"a": [1]}`, op{"set", "x", []any{"a", 3}}},
		{JSON, `{"a": 1}`, op{"remove", nil, []any{"b"}}},
		{JSON, `{"a": [1]}`, op{"set", "x", []any{"a"}}},
		{TOML, "[[a]]\nb = 1\n[t]\n[[a.c]]\n", op{"remove", nil, []any{"a", 0}}},
		{TOML, "[a.b]\nc = 1\n[t]\nd = 1\n[a.b.e]\n", op{"remove", nil, []any{"a", "b"}}},
		{TOML, "[a]\nb.c = 1\n", op{"set", "x", []any{"a", "b", "d"}}},
	} {
		d, err := Parse([]byte(test.text), test.format, Short)
		if err != nil {
			if test.text != "- a\n" {
				t.Errorf("%q: %v", test.text, err)
			}
			continue
		}
		if err := test.op.apply(d); !errors.Is(err, ErrManualEdit) || string(d.Bytes()) != test.text {
			t.Errorf("%v of %q: %v, %q", test.op, test.text, err, d.Bytes())
		}
	}
}

// seeds are documents of each format, in layouts as people and programs write them.
var seeds = map[Format][]string{
	JSON: {"", "{}", `{"a": [1, {"b": "c"}], "d": null}`, "{\n\t\"a\": {\n\t\t\"b\": [\n\t\t\t\"x\"\n\t\t]\n\t},\n\t\"e\": []\n}\n", "{\r\n\"a\": [ ],\r\n\"b\": [{}]}\r\n"},
	JSONC: {
		"", "// a\n{ }\n", "{\n  // a\n  \"a\": [1, /* b */ 2, // c\n  ], // d\n  /* e\n     f */\n  \"g\": { \"h\": [{\"i\": \"j\"},] }\n  // k\n}\n",
		"{\"a\":[{\"b\":1}],\"a\":[{\"c\":2}]}", "{\"a\": 1e400, \"\\u0062\": \"//\" // c\n}",
	},
	YAML: {
		"", "# a\n", "a: b # c\nd:\n- e: f\n  g: |\n    h\n\n  # i\n- j\nk: {l: [m, 'n''o'], \"p\": q}\n", "a:\n    b:\n        - c\n        -\n          d: e\n# f\n\ng:\n",
		"---\na: &x [1]\nb: *x\nc: ~\n...\n", "a: [ # b\n  c, # d\n  {e: f},\n]\r\ng: \"h\"\r\n", "ключ: [значение]\na: b\n",
	},
	TOML: {
		"", "# a\n", "a = 1 # b\nc = [\n  'd', # e\n]\n\n[[f]]\ng = '''\n[[f]]\n'''\n[f.h]\ni = 1\n# j\n[[f]]\ng = \"k\"\n", "[a.b]\nc = { d = [1], e.f = 2 }\n\n[a.\"g h\"]\ni.j = 1979-05-27T07:32:00\r\n[k]\r\nl = \"\"\"m\"\"\"\"\r\n",
	},
}

// opFor returns an edit of a value that a document has, or of a missing member.
func opFor(d *Document, pick func(n int) int) op {
	paths := [][]any{{}}
	var walk func(v any, path []any)
	walk = func(v any, path []any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				paths = append(paths, slices.Concat(path, []any{name}))
				walk(v[name], paths[len(paths)-1])
			}
		case []any:
			for i := range v {
				paths = append(paths, slices.Concat(path, []any{i}))
				walk(v[i], paths[len(paths)-1])
			}
		}
	}
	walk(d.Values(), nil)
	o := op{name: []string{"set", "append", "remove"}[pick(3)], path: paths[pick(len(paths))]}
	o.value = []any{"text # \"x\" 'y': {z}", map[string]any{"k": []any{"v", "w"}}}[pick(2)]
	if len(o.path) == 0 || pick(3) == 0 {
		o.path = slices.Concat(o.path, []any{"new"})
	}
	return o
}

// wanted returns the values with an edit, and false if the path leads nowhere.
func wanted(v any, o op, path []any) (any, bool) {
	switch v := v.(type) {
	case nil:
		if len(path) > 0 { // a new object
			inner, ok := wanted(nil, o, path[1:])
			name, isName := path[0].(string)
			return map[string]any{name: inner}, ok && isName && o.name != "remove"
		}
		if o.name == "append" {
			return []any{o.value}, true
		}
		return o.value, true
	case map[string]any:
		if len(path) == 0 {
			return nil, false
		}
		name, isName := path[0].(string)
		inner, ok := wanted(v[name], o, path[1:])
		if _, exists := v[name]; o.name == "remove" && len(path) == 1 {
			delete(v, name)
			return v, exists
		}
		v[name] = inner
		return v, ok && isName
	case []any:
		if len(path) == 0 {
			return append(v, o.value), o.name == "append"
		}
		i, isIndex := path[0].(int)
		if !isIndex || i >= len(v) {
			return nil, false
		}
		if o.name == "remove" && len(path) == 1 {
			return slices.Delete(v, i, i+1), true
		}
		inner, ok := wanted(v[i], o, path[1:])
		v[i] = inner
		return v, ok
	}
	return o.value, o.name == "set" && len(path) == 0
}

// checkEdit checks an edit of a document: an error leaves it as it was; otherwise it has
// the values that were asked for, and nothing else in the text has changed.
func checkEdit(t *testing.T, d *Document, o op) (edited bool) {
	t.Helper()
	before, values := string(d.Bytes()), d.Values()
	old, located := valueAt(values, o.path)
	if err := o.apply(d); err != nil {
		if string(d.Bytes()) != before {
			t.Fatalf("%v of %q failed with %v and wrote %q", o, before, err, d.Bytes())
		}
		return false
	}
	after := string(d.Bytes())
	again, err := Parse([]byte(after), d.format, d.style)
	if err != nil {
		t.Fatalf("%v of %q wrote %q: %v", o, before, after, err)
	}
	duplicates := d.isJSONText() && o.name == "remove" // the value before it appears
	if want, ok := wanted(values, o, o.path); !duplicates && (!ok || !reflect.DeepEqual(pruned(again.Values()), pruned(want))) {
		t.Fatalf("%v of %q wrote %q: values %v, want %v", o, before, after, again.Values(), want)
	}
	replaced := o.name == "set" && located || o.name == "append" && old == nil
	switch {
	case o.name == "remove":
		if !isPart(after, before) {
			t.Fatalf("%v of %q wrote other text: %q", o, before, after)
		}
	case !replaced && !isPart(before, after) && !strings.Contains(before, "null") && !strings.Contains(before, "~"):
		t.Fatalf("%v of %q lost text: %q", o, before, after)
	}
	return true
}

func (d *Document) isJSONText() bool { return d.format == JSON || d.format == JSONC }

// isPart reports whether part is text without some bytes, apart from white space.
func isPart(part, text string) bool {
	for _, c := range []byte(strings.TrimSpace(part)) {
		if strings.IndexByte(blanks, c) >= 0 {
			continue
		}
		at := strings.IndexByte(text, c)
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}

func valueAt(v any, path []any) (any, bool) {
	for _, step := range path {
		ok := false
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v, ok = m[step]
		case int:
			if l, _ := v.([]any); step < len(l) {
				v, ok = l[step], true
			}
		}
		if !ok {
			return nil, false
		}
	}
	return v, true
}

// pruned returns values without empty top-level lists and objects, which not every format
// can represent.
func pruned(v any) any {
	values := maps.Clone(v.(map[string]any))
	maps.DeleteFunc(values, func(_ string, v any) bool {
		list, isList := v.([]any)
		m, isMap := v.(map[string]any)
		return v == nil || isList && len(list) == 0 || isMap && len(m) == 0
	})
	return values
}

// Whatever the document and the edit, what is written is what was asked for.
func TestAnyEdit(t *testing.T) {
	done := map[string]int{}
	for seed := range uint64(6000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		format := []Format{JSON, JSONC, YAML, TOML}[seed%4]
		text := seeds[format][rng.IntN(len(seeds[format]))]
		if rng.IntN(2) == 0 {
			text = "\ufeff" + text
		}
		d, err := Parse([]byte(text), format, Style(rng.IntN(2)))
		if err != nil {
			t.Fatalf("%s %q: %v", format, text, err)
		}
		for range 3 { // each edit starts from the text of the one before
			o := opFor(d, rng.IntN)
			if checkEdit(t, d, o) {
				done[fmt.Sprint(format, " ", o.name)]++
			}
		}
	}
	for _, format := range []Format{JSON, JSONC, YAML, TOML} {
		for _, name := range []string{"set", "append", "remove"} {
			if done[fmt.Sprint(format, " ", name)] < 50 {
				t.Errorf("%s of %s: only %d edits were possible", name, format, done[fmt.Sprint(format, " ", name)])
			}
		}
	}
}

func FuzzEdit(f *testing.F) {
	for i, format := range []Format{JSON, JSONC, YAML, TOML} {
		for _, text := range seeds[format] {
			f.Add(byte(i), text, uint64(7))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text string, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d, err := Parse([]byte(text), []Format{JSON, JSONC, YAML, TOML}[kind%4], Style(rng.IntN(2)))
		if err != nil {
			return
		}
		checkEdit(t, d, opFor(d, rng.IntN))
	})
}

// The positions of values agree with the decoders: the text at each decodes to the value.
func TestTreeEqualsDecoder(t *testing.T) {
	for format, texts := range seeds {
		for _, text := range texts {
			if strings.TrimSpace(text) == "" {
				continue
			}
			d, err := Parse([]byte(text), format, Short)
			if err != nil {
				t.Fatal(err)
			}
			root, err := d.tree()
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			checkNode(t, d, root, d.Values())
		}
	}
}

func checkNode(t *testing.T, d *Document, n *Node, v any) {
	t.Helper()
	switch {
	case n.kind == unsupported:
		return
	case n.Raw == "" && n.kind == object:
		values := v.(map[string]any)
		for _, m := range n.Members {
			value, ok := values[m.Name]
			if !ok {
				t.Errorf("%q has no value at %s", d.text, m.Name)
			}
			checkNode(t, d, m.Value, value)
		}
		return
	case n.Raw == "" && n.kind == list:
		items := v.([]any)
		if len(items) != len(n.Items) {
			t.Fatalf("%q: %d items, want %d", d.text, len(n.Items), len(items))
		}
		for i, item := range n.Items {
			checkNode(t, d, item, items[i])
		}
		return
	case n.kind == empty:
		if v != nil {
			t.Errorf("%q: %v, want nothing", d.text, v)
		}
		return
	}
	text := map[Format]string{TOML: "v = " + n.Raw, YAML: "v: " + n.Raw}[d.format]
	if text == "" {
		text = `{"v": ` + n.Raw + `}`
	}
	got, err := Parse([]byte(text), d.format, Short)
	if err != nil || !reflect.DeepEqual(got.Values()["v"], v) || d.text[n.Start:n.end] != n.Raw {
		t.Errorf("%q: the text %q, %v, want %v", d.text, n.Raw, err, v)
	}
}
