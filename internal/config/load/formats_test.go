package load

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

func TestTOML(t *testing.T) {
	text := `a = 1
b.c = "x"
b."d e" = [1, {f = true}, [2.5]]
'g' = 0x1f
[h]
i = -1_000
[h.j]
k = 2026-01-02
[[l]]
m = 1
[[l]]
m = 2
[[l.n]]
o = {p.q = '''r'''}
[l.s]
t = +inf
`
	v, root, err := decodeTOML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v.(map[string]any)["l"].([]any)[1].(map[string]any)["s"] = nil // JSON has no infinity
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":1,"b":{"c":"x","d e":[1,{"f":true},[2.5]]},"g":31,"h":{"i":-1000,"j":{"k":"2026-01-02"}},"l":[{"m":1},{"m":2,"n":[{"o":{"p":{"q":"r"}}}],"s":null}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for path, line := range map[string]int{"a": 1, "b": 2, "b/c": 2, "b/d e/[1]/f": 3, "h/i": 6, "h/j/k": 8, "l/[1]": 11, "l/[1]/m": 12, "l/[1]/n/[0]/o/p/q": 14, "l/[1]/s": 15, "nowhere": 0, "l/[2]": 0, "b/[0]": 0} {
		if got := root.lineOf(strings.Split(path, "/")...); got != line {
			t.Errorf("%s is on line %d, want %d", path, got, line)
		}
	}
}

func TestInvalidTOML(t *testing.T) {
	for text, want := range map[string]string{
		"a = 1\na = 2":                ":2:1: invalid TOML: key a is already defined",
		"a = 1\n[a]":                  ":2:2: invalid TOML: key a is already defined",
		"a = 1\n[a.b]":                ":2:2: invalid TOML: key a is already defined",
		"[a]\n[a]":                    ":2:2: invalid TOML: key a is already defined",
		"a.b = 1\n[a]":                ":2:2: invalid TOML: key a is already defined",
		"[a.b]\nx = 1\n[a]\nb.c = 1":  ":4:1: invalid TOML: key b is already defined",
		"[a]\n[[a]]":                  ":2:3: invalid TOML: key a is already defined",
		"[[a]]\n[a]":                  ":2:2: invalid TOML: key a is already defined",
		"a = [1]\n[[a]]":              ":2:3: invalid TOML: key a is already defined",
		"a = {b = 1}\n[a.c]":          ":2:2: invalid TOML: key a is already defined",
		"a = {b = 1, b = 2}":          ":1:13: invalid TOML: key b is already defined",
		"a = 99999999999999999999999": ":1:5: invalid TOML: invalid number 99999999999999999999999",
		"x = 1\n  a = ?":              ":2:7: invalid TOML: ",
	} {
		_, err := parseRoutes("r.toml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "r.toml"+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzTOML compares the values with those of go-toml's decoder.
func FuzzTOML(f *testing.F) {
	f.Add([]byte("a.b = [1, {c = 'x'}]\n[d.e]\n[[f]]\n[f.g]\nh = 1.5e3\n[[f]]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := decodeTOML(data)
		want := map[string]any{}
		if toml.Unmarshal(data, &want) != nil {
			return // it checks numbers and dates more strictly
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if diff := cmp.Diff(asText(want), asText(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
	})
}

// asText replaces the scalars, because go-toml has types of its own for dates.
func asText(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = asText(v[name])
		}
		return v
	case []any:
		for i := range v {
			v[i] = asText(v[i])
		}
		return v
	case string, bool, int64, float64:
		return fmt.Sprint(v)
	}
	return "a date"
}

func TestYAML(t *testing.T) {
	text := `base: &base {a: 1, b: x}
list: [yes, ~, 2.5, *base]
1: one
merged:
  <<: [*base, {c: 3}]
  b: own
? *key
: &key alias
`
	text = strings.Replace(text, "? *key\n: &key alias\n", "? &key name\n: v\n", 1)
	v, root, err := decodeYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"1":"one","base":{"a":1,"b":"x"},"list":["yes",null,2.5,{"a":1,"b":"x"}],"merged":{"a":1,"b":"own","c":3},"name":"v"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if line := root.lineOf("merged", "b"); line != 6 {
		t.Errorf("merged.b is on line %d", line)
	}
}

func TestInvalidYAML(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	for text, want := range map[string]string{
		"a: 1\na: 2":       `:2: invalid YAML: mapping key "a" already defined at line 1`,
		"a: &b [*b]":       `:1: invalid YAML: anchor "b" contains itself`,
		"a: &b\n  <<: *b":  `:2: invalid YAML: anchor "b" contains itself`,
		"[a]: 1":           ":1: invalid YAML: want a text as a key",
		"a:\n  <<: 3":      ":2: invalid YAML: want objects to merge",
		"a: !!int x":       `:1: invalid YAML: cannot decode "x"`,
		"a: [":             ":1: invalid YAML: ",
		bomb + "routes: 1": ":", // of a line with aliases
	} {
		_, err := parseRoutes("r.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "r.yaml"+want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// FuzzYAML compares the values with those of the library, for objects whose keys are texts.
func FuzzYAML(f *testing.F) {
	f.Add([]byte("a: &x {b: [1, yes, ~]}\nc: *x\nd: {<<: *x, e: 2001-01-01}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _, err := decodeYAML(data)
		var want map[string]any
		if yaml.Unmarshal(data, &want) != nil || want == nil || !textKeys(want) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if !textKeys(got) {
			return // the library drops null, for example
		}
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", data, diff)
		}
	})
}

// textKeys reports whether all keys are texts that mean nothing else.
func textKeys(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, part := range v {
			if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" || name == "null" || name == "true" || name == "false" || !textKeys(part) {
				return false
			}
		}
	case []any:
		for _, part := range v {
			if !textKeys(part) {
				return false
			}
		}
	case map[any]any:
		return false
	}
	return true
}
