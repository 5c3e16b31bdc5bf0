package index

import (
	"slices"
	"testing"
)

func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       bool
	}{
		{"gitlab ci cache", "GitLab", true},
		{"an ungitlabbed thing", "gitlab", false},
		{"gitlabs", "gitlab", false},
		{"in gitlab-ci.yml", "gitlab-ci", true},
		{"use c++ maps", "c++", true},
		{"use c++ maps", "c", false},
		{"use c# maps", "c", false},
		{"plain c, not more", "c", true},
		{"gitlabber and gitlab", "gitlab", true},
		{"настройка кластера", "кластера", true},
		{"x", "", false},
	} {
		if got := mentions(tt.text, tt.name); got != tt.want {
			t.Errorf("mentions(%q, %q) = %v", tt.text, tt.name, got)
		}
	}
}

func TestNamed(t *testing.T) {
	databases := [][]string{{"git"}, {"GitLab", "gl"}, {"python", "py"}}
	for query, want := range map[string][]int{
		"rebase in git":              {0},
		"move from Git to gl":        {0, 1},
		"which of them":              nil,
		"PYTHON, of all the gitters": {2},
	} {
		if got := Named(query, databases); !slices.Equal(got, want) {
			t.Errorf("Named(%q) = %v, want %v", query, got, want)
		}
	}
}
