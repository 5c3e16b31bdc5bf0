package passage

import (
	"slices"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	for _, test := range []struct {
		when AppliesWhen
		want []string
	}{
		{AppliesWhen{}, nil},
		{AppliesWhen{Tools: []string{"Edit"}}, nil},
		{AppliesWhen{Commands: []string{"git commit", "./bin/Git push", " ", "make"}}, []string{"command:git", "command:make"}},
		{AppliesWhen{Languages: []string{"Go", " c++ "}}, []string{"language:go", "language:c++"}},
		{AppliesWhen{Paths: []string{"**/*.go", "*_test.go", "src/**/*.ts", "migrations/", "go.mod"}}, []string{"path:.go", "path:src", "path:migrations", "path:go.mod"}},
		{AppliesWhen{Paths: []string{"**", ".env*", "*.{a,b}", "x.*", "", "./**"}}, []string{"path:*"}},
		{AppliesWhen{Paths: []string{strings.Repeat("x", 100)}}, []string{"path:" + strings.Repeat("x", maxKeyBytes)}},
	} {
		if got := test.when.Keys(); !slices.Equal(got, test.want) {
			t.Errorf("%+v: keys %q, want %q", test.when, got, test.want)
		}
	}
}

func TestPathKeys(t *testing.T) {
	for path, want := range map[string][]string{
		"":            {"path:*"},
		"/p/Src/a.go": {"path:*", "path:p", "path:src", "path:a.go", "path:.go"},
		`C:\p\.env.x`: {"path:*", "path:c:", "path:p", "path:.env.x", "path:.x"},
		"a.":          {"path:*", "path:a."},
		"Makefile":    {"path:*", "path:makefile"},
	} {
		if got := PathKeys(path); !slices.Equal(got, want) {
			t.Errorf("%q: keys %q, want %q", path, got, want)
		}
	}
	if n := len(PathKeys(strings.Repeat("a/", 500) + "b")); n > maxFolders+2 {
		t.Errorf("%d keys", n)
	}
}
