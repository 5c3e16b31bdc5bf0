package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

func TestSplitLLMSFull(t *testing.T) {
	const base = "https://x.test/docs/llms-full.txt"
	for _, tt := range []struct {
		name, text string
		want       []llmsDocument
	}{
		{"one", "# All\n\nof it\n", []llmsDocument{{base, "# All\n\nof it"}}},
		{"titles", "Docs of X.\n\n# A\nSource: https://x.test/docs/a\n\ntext of A\n\n# Not another\n\n# B\n\nURL: https://x.test/docs/b#top\ntext of B\n", []llmsDocument{
			{base, "Docs of X.\n\n"},
			{"https://x.test/docs/a", "# A\nSource: https://x.test/docs/a\n\ntext of A\n\n# Not another\n\n"},
			{"https://x.test/docs/b", "# B\n\nURL: https://x.test/docs/b#top\ntext of B"},
		}},
		{"front matter", "---\ntitle: A\nsource_url: \"https://x.test/a\"\n---\n\ntext\n---\ntitle: B\nsource_url: https://x.test/b\n---\nmore\n", []llmsDocument{
			{"https://x.test/a", "---\ntitle: A\nsource_url: \"https://x.test/a\"\n---\n\ntext\n"},
			{"https://x.test/b", "---\ntitle: B\nsource_url: https://x.test/b\n---\nmore"},
		}},
		{"the same place again", "# A\nSource: https://x.test/a\n# A\nSource: https://x.test/a\nmore", []llmsDocument{
			{"https://x.test/a", "# A\nSource: https://x.test/a\n\n# A\nSource: https://x.test/a\nmore"},
		}},
		{"somebody else's place", "# A\nSource: https://y.test/a\n", []llmsDocument{{base, "# A\nSource: https://y.test/a"}}},
		{"in code", "# A\n```\n# B\nSource: https://x.test/b\n```\n", []llmsDocument{{base, "# A\n```\n# B\nSource: https://x.test/b\n```"}}},
		{"in text", "# A\n\ntext\nSource: https://x.test/b\n", []llmsDocument{{base, "# A\n\ntext\nSource: https://x.test/b"}}},
		{"nothing", "\n\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := splitLLMSFull(tt.text, base)
			for i := range tt.want {
				tt.want[i].text = strings.TrimSuffix(tt.want[i].text, "\n")
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(llmsDocument{})); diff != "" {
				t.Errorf("parts (-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzSplitLLMSFull(f *testing.F) {
	f.Add("# A\nSource: https://x.test/a\n\ntext\n# B\nSource: https://x.test/b\n")
	f.Add("---\nurl: https://x.test/a\n---\n```\n~~~\n")
	f.Fuzz(func(t *testing.T, text string) {
		const base = "https://x.test/llms-full.txt"
		seen := map[string]bool{}
		length := 0
		for _, p := range splitLLMSFull(text, base) {
			if seen[p.url] || !strings.HasPrefix(p.url, "https://x.test") && !strings.HasPrefix(p.url, "http://x.test") {
				t.Errorf("part of %q", p.url)
			}
			seen[p.url] = true
			length += len(strings.Join(strings.Fields(p.text), ""))
		}
		if want := len(strings.Join(strings.Fields(text), "")); length != want {
			t.Errorf("%d of %d bytes are left", length, want)
		}
	})
}

func TestSiteOfLLMSFull(t *testing.T) {
	s := newTestSite(t, map[string]string{
		"/docs/llms-full.txt": "text/plain\n# A\nSource: SITE/docs/a\n\nIt turns widgets.\n\n# B\nSource: SITE/docs/b\n\nIt stops them.\n",
	})
	s.pages["/docs/llms-full.txt"] = strings.ReplaceAll(s.pages["/docs/llms-full.txt"], "SITE", s.URL)
	source := s.source(t, SiteOptions{}, folder.Options{})
	before := generate(t, source, nil)
	var got []string
	for _, p := range passagesOf(t, before) {
		got = append(got, strings.TrimPrefix(p.URL, s.URL)+" | "+p.Title)
	}
	if diff := cmp.Diff([]string{"/docs/a | A", "/docs/b | B"}, got); diff != "" {
		t.Errorf("passages (-want +got)\n%s", diff)
	}
	s.set("/docs/llms-full.txt", strings.ReplaceAll(s.pages["/docs/llms-full.txt"], "stops", "halts"))
	if now := generate(t, source, &before.Generation); len(now.kept) != 1 || source.Changes() != (Changes{Changed: 1, Same: 1}) {
		t.Errorf("kept %+v, changes %+v", now.kept, source.Changes())
	}
}
