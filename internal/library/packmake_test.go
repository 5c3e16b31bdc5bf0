package library

import (
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/pack"
)

// TestPackSource leaves paths and credentials out of the source of a pack.
func TestPackSource(t *testing.T) {
	for _, c := range []struct {
		source generation.Source
		want   pack.Source
	}{
		{generation.Source{Kind: "folder", Location: "/home/me/docs"}, pack.Source{Kind: "folder"}},
		{generation.Source{Kind: "git", Location: "git@git.example.com:x/y.git", Commit: "abc"}, pack.Source{Kind: "git", Commit: "abc"}},
		{generation.Source{Kind: "git", Location: "https://me:token@git.example.com/x.git#v2", Commit: "abc"},
			pack.Source{Kind: "git", Location: "https://git.example.com/x.git", Commit: "abc"}},
		{generation.Source{Kind: "site", Location: "https://docs.example.com/"}, pack.Source{Kind: "site", Location: "https://docs.example.com/", Date: "2026-05-01"}},
	} {
		info := index.Info{Manifest: generation.Manifest{Source: c.source, Created: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}}
		if got := packSourceOf(info); got != c.want {
			t.Errorf("%v: %v, want %v", c.source, got, c.want)
		}
	}
}
