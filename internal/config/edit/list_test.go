package edit

import (
	"errors"
	"reflect"
	"testing"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct{ name, path, before, want string }{
		{"no file", "c.json", "", "{\n  \"publishers\": [\"a+1\"]\n}\n"},
		{"new key", "c.json", "{\n  \"hook\": {}\n}\n", "{\n  \"hook\": {},\n  \"publishers\": [\"a+1\"]\n}\n"},
		{"list", "c.json", `{"publishers": ["b"]}`, `{"publishers": ["b", "a+1"]}`},
		{"empty list", "c.json", `{"publishers": []}`, `{"publishers": ["a+1"]}`},
		{"other case", "c.json", `{"Publishers": ["b"]}`, `{"Publishers": ["b", "a+1"]}`},
		{"present", "c.json", `{"publishers": ["a+1"]}`, `{"publishers": ["a+1"]}`},
		{"YAML", "c.yaml", "# mine\nhook:\n  retry: evidence\n", "# mine\nhook:\n  retry: evidence\npublishers: [\"a+1\"]\n"},
		{"YAML block", "c.yaml", "publishers:\n  - b\nhook:\n  retry: evidence\n", "publishers:\n  - b\n  - \"a+1\"\nhook:\n  retry: evidence\n"},
		{"TOML", "c.toml", "[[databases]]\nkeywords = [\"x\"]\n", "publishers = [\"a+1\"]\n[[databases]]\nkeywords = [\"x\"]\n"},
		{"TOML list", "c.toml", "publishers = [\"b\"] # trusted\n", "publishers = [\"b\", \"a+1\"] # trusted\n"},
	} {
		got, err := Append(c.path, []byte(c.before), "publishers", "a+1")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if _, err := Append("c.json", []byte(`{"publishers": {}}`), "publishers", "a"); !errors.Is(err, ErrManualEdit) {
		t.Errorf("an object: %v", err)
	}
}

func TestDropURLs(t *testing.T) {
	for _, c := range []struct{ name, path, before, want string }{
		{"JSON", "c.json", `{"databases": [{"keywords": ["x"], "path": "/x", "description": "x", "urls": ["https://a/", "https://b/", "https://c/"]}]}`,
			`{"databases": [{"keywords": ["x"], "path": "/x", "description": "x", "urls": ["https://b/"]}]}`},
		{"YAML", "c.yaml", "databases:\n  - keywords: [x]\n    path: /x\n    description: x\n    urls:\n      - https://a/\n      - https://b/\n",
			"databases:\n  - keywords: [x]\n    path: /x\n    description: x\n    urls:\n      - https://b/\n"},
		{"TOML", "c.toml", "[[databases]]\nkeywords = [\"x\"]\npath = \"/x\"\ndescription = \"x\"\nurls = [\"https://b/\", \"https://c/\"] # pages\n",
			"[[databases]]\nkeywords = [\"x\"]\npath = \"/x\"\ndescription = \"x\"\nurls = [\"https://b/\"] # pages\n"},
		{"another entry", "c.json", `{"databases": [{"keywords": ["y"], "path": "/y", "description": "y", "urls": ["https://a/"]}]}`,
			`{"databases": [{"keywords": ["y"], "path": "/y", "description": "y", "urls": ["https://a/"]}]}`},
	} {
		got, err := DropURLs(c.path, []byte(c.before), "x", []string{"https://a/", "https://c/"})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// FuzzAppend checks that an edit changes nothing but the list, in any file that decodes.
func FuzzAppend(f *testing.F) {
	for _, text := range []string{"", "{}", `{"publishers": ["b"]}`, "publishers:\n- b\n", "[hook]\nretry = 'x'\n"} {
		for _, path := range []string{"c.json", "c.yaml", "c.toml"} {
			f.Add(path, text)
		}
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		before, err := open(path, []byte(text), "publishers")
		if err != nil {
			return
		}
		got, err := Append(path, []byte(text), "publishers", "a")
		if err != nil {
			return
		}
		after, err := open(path, got, "publishers")
		if err != nil {
			t.Fatalf("%q does not decode: %v", got, err)
		}
		values, have := before.values, after.values
		key, err := findKey(values, "publishers")
		if err != nil {
			t.Fatal(err)
		}
		delete(values, key)
		delete(have, key)
		if !reflect.DeepEqual(values, have) {
			t.Fatalf("%q -> %q", text, got)
		}
	})
}
