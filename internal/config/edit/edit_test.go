package edit

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
)

var gitlab = Entry{
	Keywords:    []string{"gitlab", "gitlab-ci"},
	Path:        "/data/gitlab",
	Description: "GitLab documentation",
	URLs:        []string{"https://docs.gitlab.com/"},
}

func TestNewEntry(t *testing.T) {
	for _, test := range []struct{ name, file, before, after string }{
		{"no file", "config.json", "", `{
  "databases": [
    {
      "keywords": ["gitlab", "gitlab-ci"],
      "path": "/data/gitlab",
      "description": "GitLab documentation",
      "urls": ["https://docs.gitlab.com/"]
    }
  ]
}
`},
		{"empty object", "config.json", "{}", `{
  "databases": [
    {
      "keywords": ["gitlab", "gitlab-ci"],
      "path": "/data/gitlab",
      "description": "GitLab documentation",
      "urls": ["https://docs.gitlab.com/"]
    }
  ]
}`},
		{"the form of the documentation", "config.json", `{"databases": [
  {"keywords": ["go"], "path": "/data/go",
   "description": "Go"}]}
`, `{"databases": [
  {"keywords": ["go"], "path": "/data/go",
   "description": "Go"},
  {"keywords": ["gitlab", "gitlab-ci"], "path": "/data/gitlab", "description": "GitLab documentation", "urls": ["https://docs.gitlab.com/"]}]}
`},
		{"spread with tabs", "config.json", "{\n\t\"databases\": [\n\t\t{\n\t\t\t\"keywords\": \"go\",\n\t\t\t\"path\": \"/go\",\n\t\t\t\"description\": \"Go\"\n\t\t}\n\t],\n\t\"hook\": {\"retry\": \"evidence\"}\n}\n",
			"{\n\t\"databases\": [\n\t\t{\n\t\t\t\"keywords\": \"go\",\n\t\t\t\"path\": \"/go\",\n\t\t\t\"description\": \"Go\"\n\t\t},\n\t\t{\n\t\t\t\"keywords\": [\"gitlab\", \"gitlab-ci\"],\n\t\t\t\"path\": \"/data/gitlab\",\n\t\t\t\"description\": \"GitLab documentation\",\n\t\t\t\"urls\": [\"https://docs.gitlab.com/\"]\n\t\t}\n\t],\n\t\"hook\": {\"retry\": \"evidence\"}\n}\n"},
		{"other sections only", "config.json", "\ufeff{\r\n    \"hook\": {\"retry\": \"evidence\"}\r\n}\r\n",
			"\ufeff{\r\n    \"hook\": {\"retry\": \"evidence\"},\r\n    \"databases\": [\r\n        {\r\n            \"keywords\": [\"gitlab\", \"gitlab-ci\"],\r\n            \"path\": \"/data/gitlab\",\r\n            \"description\": \"GitLab documentation\",\r\n            \"urls\": [\"https://docs.gitlab.com/\"]\r\n        }\r\n    ]\r\n}\r\n"},
		{"one line", "config.json", `{"search":{"top_k":3},"Databases":[]}`,
			`{"search":{"top_k":3},"Databases":[{"keywords": ["gitlab", "gitlab-ci"], "path": "/data/gitlab", "description": "GitLab documentation", "urls": ["https://docs.gitlab.com/"]}]}`},
		{"null", "config.json", `{"databases": null}`,
			`{"databases": [{"keywords": ["gitlab", "gitlab-ci"], "path": "/data/gitlab", "description": "GitLab documentation", "urls": ["https://docs.gitlab.com/"]}]}`},

		{"no file", "config.yaml", "", `databases:
  - keywords: ["gitlab", "gitlab-ci"]
    path: "/data/gitlab"
    description: "GitLab documentation"
    urls: ["https://docs.gitlab.com/"]
`},
		{"a list of blocks", "config.yml", `# mine
databases: # two of them
- keywords: go
  path: /go   # here
  description: >
    Go, the language
    # no comment

# a comment after the list
hook: {retry: evidence}
`, `# mine
databases: # two of them
- keywords: go
  path: /go   # here
  description: >
    Go, the language
    # no comment
- keywords: ["gitlab", "gitlab-ci"]
  path: "/data/gitlab"
  description: "GitLab documentation"
  urls: ["https://docs.gitlab.com/"]

# a comment after the list
hook: {retry: evidence}
`},
		{"no end of line, a word out of ASCII", "config.yaml", "search: {top_k: 3}\ndatabases:\n    -   keywords: [\"ключ\", go]\n        description: ключ\n        path: /go",
			"search: {top_k: 3}\ndatabases:\n    -   keywords: [\"ключ\", go]\n        description: ключ\n        path: /go\n    - keywords: [\"gitlab\", \"gitlab-ci\"]\n      path: \"/data/gitlab\"\n      description: \"GitLab documentation\"\n      urls: [\"https://docs.gitlab.com/\"]"},
		{"nothing yet", "config.yaml", "databases:   # none yet\nhook:\n  retry: evidence\n",
			"databases:   # none yet\n  - keywords: [\"gitlab\", \"gitlab-ci\"]\n    path: \"/data/gitlab\"\n    description: \"GitLab documentation\"\n    urls: [\"https://docs.gitlab.com/\"]\nhook:\n  retry: evidence\n"},
		{"brackets", "config.yaml", `databases: [
  {keywords: [it's, go], path: /go, description: a#b},  # the first
]
`, `databases: [
  {keywords: [it's, go], path: /go, description: a#b},  # the first
  {"keywords": ["gitlab", "gitlab-ci"], "path": "/data/gitlab", "description": "GitLab documentation", "urls": ["https://docs.gitlab.com/"]},
]
`},
		{"JSON in YAML", "config.yaml", `{"databases": []}`,
			`{"databases": [{"keywords": ["gitlab", "gitlab-ci"], "path": "/data/gitlab", "description": "GitLab documentation", "urls": ["https://docs.gitlab.com/"]}]}`},
		{"other sections only", "config.yaml", "hook:\n  retry: evidence\n",
			"hook:\n  retry: evidence\ndatabases:\n  - keywords: [\"gitlab\", \"gitlab-ci\"]\n    path: \"/data/gitlab\"\n    description: \"GitLab documentation\"\n    urls: [\"https://docs.gitlab.com/\"]\n"},

		{"no file", "config.toml", "", `[[databases]]
keywords = ["gitlab", "gitlab-ci"]
path = "/data/gitlab"
description = "GitLab documentation"
urls = ["https://docs.gitlab.com/"]
`},
		{"tables", "config.toml", `# mine
[[databases]] # the first
keywords = ['go', """lang"""]
path = "/go"
description = "Go # no comment"

[hook]
retry = "evidence"`, `# mine
[[databases]] # the first
keywords = ['go', """lang"""]
path = "/go"
description = "Go # no comment"

[hook]
retry = "evidence"

[[databases]]
keywords = ["gitlab", "gitlab-ci"]
path = "/data/gitlab"
description = "GitLab documentation"
urls = ["https://docs.gitlab.com/"]
`},
		{"brackets", "config.toml", `databases = [
  { keywords = ["go"], path = '/go', description = "Go, the [language]" } # the first
]
[search]
top_k = 3
`, `databases = [
  { keywords = ["go"], path = '/go', description = "Go, the [language]" }, # the first
  { keywords = ["gitlab", "gitlab-ci"], path = "/data/gitlab", description = "GitLab documentation", urls = ["https://docs.gitlab.com/"] }
]
[search]
top_k = 3
`},
	} {
		t.Run(strings.TrimPrefix(filepath.Ext(test.file), ".")+", "+test.name, func(t *testing.T) {
			check(t, test.file, test.before, gitlab, test.after)
		})
	}
}

func TestChangedEntry(t *testing.T) {
	for _, test := range []struct{ name, file, before, after string }{
		{"the form of the documentation", "config.json", `{"databases": [
  {"keywords": ["gitlab", "gl"], "path": "/home/me/.leann/indexes/gitlab",
   "mcp_tool_name": "mcp__leann__search", "description": "GitLab"}, {"keywords": ["go"], "path": "/go", "description": "Go"}]}`,
			`{"databases": [
  {"keywords": ["gitlab", "gl", "gitlab-ci"], "path": "/data/gitlab",
   "mcp_tool_name": "mcp__leann__search", "description": "GitLab documentation", "urls": ["https://docs.gitlab.com/"]}, {"keywords": ["go"], "path": "/go", "description": "Go"}]}`},
		{"spread", "config.json", `{
  "databases": [
    {
      "Name": "gitlab",
      "KEYWORDS": [
        "gl"
      ],
      "path": "/data/gitlab",
      "urls": [],
      "description": "GitLab documentation"
    }
  ]
}`, `{
  "databases": [
    {
      "Name": "gitlab",
      "KEYWORDS": [
        "gl",
        "gitlab",
        "gitlab-ci"
      ],
      "path": "/data/gitlab",
      "urls": ["https://docs.gitlab.com/"],
      "description": "GitLab documentation"
    }
  ]
}`},
		{"a word alone", "config.json", `{"databases": [{"keywords": "gitlab", "path": "/data/gitlab", "description": "GitLab documentation", "urls": "https://docs.gitlab.com/"}]}`,
			`{"databases": [{"keywords": ["gitlab", "gitlab-ci"], "path": "/data/gitlab", "description": "GitLab documentation", "urls": "https://docs.gitlab.com/"}]}`},
		{"blocks", "config.yaml", `databases:
  - keywords:
      - gitlab   # its name
      - gl
      # more to come
    path: /old   # moved
    description: 'It''s GitLab'
    # - a comment
  - keywords: [go]
    path: /go
    description: Go
`, `databases:
  - keywords:
      - gitlab   # its name
      - gl
      # more to come
      - "gitlab-ci"
    path: "/data/gitlab"   # moved
    description: "GitLab documentation"
    # - a comment
    urls: ["https://docs.gitlab.com/"]
  - keywords: [go]
    path: /go
    description: Go
`},
		{"brackets", "config.yaml", "databases:\n- {keywords: [gitlab], path: /old, description: GitLab}\n",
			"databases:\n- {keywords: [gitlab, \"gitlab-ci\"], path: \"/data/gitlab\", description: \"GitLab documentation\", \"urls\": [\"https://docs.gitlab.com/\"]}\n"},
		{"tables", "config.toml", `[[databases]]
keywords = [
  "gitlab",
  "gl", # short
]
path = "/old" # moved
description = "GitLab documentation"

# Go
[[databases]]
keywords = ["go"]
path = "/go"
description = "Go"
`, `[[databases]]
keywords = [
  "gitlab",
  "gl", # short
  "gitlab-ci",
]
path = "/data/gitlab" # moved
description = "GitLab documentation"
urls = ["https://docs.gitlab.com/"]

# Go
[[databases]]
keywords = ["go"]
path = "/go"
description = "Go"
`},
		{"brackets", "config.toml", `databases = [{keywords = "gitlab", path = "/old", description = "GitLab documentation"}]`,
			`databases = [{keywords = ["gitlab", "gitlab-ci"], path = "/data/gitlab", description = "GitLab documentation", urls = ["https://docs.gitlab.com/"]}]`},
	} {
		t.Run(strings.TrimPrefix(filepath.Ext(test.file), ".")+", "+test.name, func(t *testing.T) {
			check(t, test.file, test.before, gitlab, test.after)
		})
	}
}

// check adds the entry to a file. It verifies that doing so again changes nothing, and
// that the program reads the entry.
func check(t *testing.T, name, before string, e Entry, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	got, err := Put(path, []byte(before), e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	again, err := Put(path, got, e)
	if err != nil || string(again) != string(got) {
		t.Errorf("a second time: %v\n%s", err, again)
	}
	if err := os.WriteFile(path, got, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := load.Load(config.Locations{Config: path})
	if err != nil {
		t.Fatal(err)
	}
	found, place := false, e.Path
	if !config.IsAbs(place) { // on Windows a path of these tests has no drive
		place = config.Join(filepath.Dir(path), place)
	}
	for _, db := range r.Config.Databases {
		found = found || db.Name == "gitlab" && db.Path == place && db.Description == e.Description && reflect.DeepEqual(db.URLs, e.URLs)
	}
	if !found {
		t.Errorf("the program reads %+v", r.Config.Databases)
	}
}

func TestPutLeavesAlone(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		byHand           bool
	}{
		{"invalid JSON", "c.json", `{"databases": [`, false},
		{"comments in JSON", "c.json", "{\n// x\n}", false},
		{"no YAML", "c.yaml", "a: [", false},
		{"no TOML", "c.toml", "a = ", false},
		{"no list", "c.json", `{"databases": {"gitlab": {}}}`, false},
		{"two keys", "c.json", `{"databases": [], "Databases": []}`, false},
		{"not an object", "c.yaml", "- a\n", false},
		{"an alias", "c.yaml", "base: &b\n  - {keywords: go, path: /go, description: Go}\ndatabases: *b\n", true},
		{"an anchor", "c.yaml", "databases: &b\n  - keywords: go\nother: *b\n", true},
		{"a comment alone", "c.yaml", "databases: [ # none\n]\n", true},
		{"a path over several lines", "c.yaml", "databases:\n  - keywords: gitlab\n    path: >-\n      /old\n    description: D\n", true},
		{"keys with dots", "c.toml", "[[databases]]\nkeywords = [\"gitlab\"]\ndescription = \"D\"\npath = \"/p\"\n[databases.urls]\nx = 1\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Put("/home/me/"+test.file, []byte(test.text), gitlab)
			if err == nil {
				t.Fatalf("put:\n%s", got)
			}
			if errors.Is(err, ErrManualEdit) != test.byHand {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A new entry leaves every byte of any file as it is, and the result contains the entry
// once.
func FuzzPut(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"databases": [{"keywords": ["go"], "path": "/go", "description": "Go"}]}`,
		"databases:\n- keywords: [a, 'b''c']\n  path: /p # x\n  description: |\n    text\nhook: {}\n",
		"databases: [{keywords: a, path: /b, description: c}, ]\n--- \n",
		"[[databases]]\nkeywords = ['''a''', \"b\"]\npath = 'x'\n[hook]\nretry = 1\n", "databases = [ {a.b = 1979-05-27 07:32:00}, ]\n",
	} {
		for format := range byte(3) {
			f.Add(text, format)
		}
	}
	f.Fuzz(func(t *testing.T, text string, format byte) {
		path := "/c." + []string{"json", "yaml", "toml"}[format%3]
		e := Entry{Name: "a name of its own", Keywords: []string{"k\u007f\"#,'"}, Path: `C:\x`, Description: "one: {two}"}
		got, err := Put(path, []byte(text), e)
		if err != nil {
			return
		}
		rest := string(got)
		for i, c := range []byte(strings.TrimSpace(text)) {
			at := strings.IndexByte(rest, c)
			if at < 0 {
				if strings.Contains(strings.ToLower(text), "null") || strings.Contains(text, "~") {
					return // an existing entry is updated
				}
				t.Fatalf("byte %d of %q is lost in\n%s", i, text, got)
			}
			rest = rest[at+1:]
		}
		again, err := Put(path, got, e)
		if err != nil || string(again) != string(got) {
			t.Fatalf("a second time: %v\n%s\nafter\n%s", err, again, got)
		}
	})
}

// A version is added or replaced; an entry without one keeps the old value.
func TestVersion(t *testing.T) {
	e := gitlab
	text := ""
	for _, test := range []struct{ version, want string }{{"", ""}, {"4.2", "4.2"}, {"", "4.2"}, {"5.2", "5.2"}} {
		e.Version = test.version
		got, err := Put("/home/me/config.json", []byte(text), e)
		if err != nil {
			t.Fatal(err)
		}
		text = string(got)
		if found := strings.Contains(text, `"version": "`+test.want+`"`); found != (test.want != "") {
			t.Errorf("version %q: want %q in\n%s", test.version, test.want, text)
		}
	}
}
