package edit

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemove(t *testing.T) {
	for _, test := range []struct{ name, file, before, after string }{
		{"the last", "config.json", `{"databases": [
  {"keywords": ["go"], "path": "/go", "description": "Go"},
  {"keywords": ["gitlab"], "path": "/gitlab", "description": "GitLab"}]}
`, `{"databases": [
  {"keywords": ["go"], "path": "/go", "description": "Go"}]}
`},
		{"the first", "config.json", `{
  "databases": [
    {
      "keywords": ["gitlab"],
      "path": "/gitlab",
      "description": "GitLab"
    },
    {
      "keywords": ["go"],
      "path": "/go",
      "description": "Go"
    }
  ],
  "search": {"top_k": 3}
}
`, `{
  "databases": [
    {
      "keywords": ["go"],
      "path": "/go",
      "description": "Go"
    }
  ],
  "search": {"top_k": 3}
}
`},
		{"the only one", "config.json", "\ufeff{\"databases\": [{\"keywords\": \"gitlab\", \"path\": \"/g\", \"description\": \"d\"}]}", "\ufeff{\"databases\": []}"},
		{"on one line", "config.json", `{"databases": [{"keywords": ["gitlab"], "path": "/gitlab", "description": "GitLab"}, {"keywords": ["go"], "path": "/go", "description": "Go"}]}`,
			`{"databases": [{"keywords": ["go"], "path": "/go", "description": "Go"}]}`},
		{"by another spelling", "config.json", `{"Databases": [{"name": "GitLab", "keywords": ["gl"], "path": "/gitlab", "description": "d"}], "hook": {}}`,
			`{"Databases": [], "hook": {}}`},
		{"none of that name", "config.json", `{"databases": [ {"keywords": ["go"], "path": "/go", "description": "Go"} ]}`,
			`{"databases": [ {"keywords": ["go"], "path": "/go", "description": "Go"} ]}`},
		{"blocks", "config.yaml", `# mine
databases:
  # about GitLab
  - keywords: gitlab
    path: /gitlab # here
    description: GitLab

  # about Go
  - keywords: go
    path: /go
    description: Go
`, `# mine
databases:
  # about GitLab

  # about Go
  - keywords: go
    path: /go
    description: Go
`},
		{"the only block", "config.yaml", "databases:\n  - keywords: gitlab\n    path: /gitlab\n    description: d\nhook: {retry: evidence}\n", "databases:\nhook: {retry: evidence}\n"},
		{"tables", "config.toml", `[[databases]]
keywords = ["go"]
path = "/go"
description = "Go"

[[databases]]
keywords = ["gitlab"]
path = "/gitlab"
description = "GitLab"

[hook]
retry = "evidence"
`, `[[databases]]
keywords = ["go"]
path = "/go"
description = "Go"

[hook]
retry = "evidence"
`},
	} {
		t.Run(test.file+" "+test.name, func(t *testing.T) {
			got, err := Remove("/home/me/"+test.file, []byte(test.before), "gitlab")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.after, string(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRemoveByHand(t *testing.T) {
	for file, text := range map[string]string{
		"alias.yaml": "base: &all\n  - {keywords: gitlab, path: /go, description: d}\ndatabases: *all\n",
		"sub.toml":   "[[databases]]\nkeywords = [\"gitlab\"]\npath = \"/g\"\ndescription = \"d\"\n[databases.inject]\nx = 1\n",
	} {
		if got, err := Remove("/home/me/"+file, []byte(text), "gitlab"); !errors.Is(err, ErrManualEdit) {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
	}
}
