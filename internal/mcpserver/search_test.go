package mcpserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/passage"
)

var (
	gitlab     = Entry{Name: "gitlab", Path: "/db/gitlab", Description: "GitLab documentation", Keywords: []string{"gl"}}
	kubernetes = Entry{Name: "kubernetes", Path: "/db/k8s", Description: "Kubernetes documentation"}
)

func cacheHit(score float64) index.Hit {
	return index.Hit{Score: score, Passage: passage.Passage{
		ID: "17", Title: "Caching", Headings: []string{"Keys", "Fallback keys"},
		URL:  "https://docs.example.org/ci/cache#fallback",
		Text: "Use `cache:fallback_keys`:\n\n```yaml\ncache:\n  key: x\n```\n",
	}}
}

func podHit(score float64) index.Hit {
	return index.Hit{Score: score, Passage: passage.Passage{
		ID: "pods.md:3", Path: "docs/pods.md", StartLine: 3, EndLine: 9, Text: "A pod is one or more containers.",
	}}
}

func fieldsHit(score float64) index.Hit {
	return index.Hit{Score: score, Passage: passage.Passage{
		ID: "fields.md:7", Title: "Pods", Headings: []string{"Fields"}, Path: "docs/fields.md", StartLine: 7, EndLine: 11,
		Text: "# Fields\n\n- **containers**: What runs.\n- **restartPolicy**: When to restart.\n- **volumes**: Storage.",
	}}
}

func TestAnswerSearch(t *testing.T) {
	const query = "cache keys"
	damaged := &container.CorruptError{File: "/db/k8s/docsearch/g000001/lexical.idx", Offset: 64, Problem: "checksum"}
	for _, tt := range []struct {
		name     string
		a        searchArguments
		findings []databaseResult
		scoped   bool
		want     string
		wantErr  string
	}{
		{
			name: "hits of two databases",
			findings: []databaseResult{
				{Entry: gitlab, Result: index.Result{Confidence: 0.9, Confident: true, Hits: []index.Hit{cacheHit(8)}}},
				{Entry: kubernetes, Result: index.Result{Confidence: 0.5, Hits: []index.Hit{podHit(80)}}},
			},
			want: `2 passages from gitlab, kubernetes for "cache keys". Fenced text is quoted documentation.

1. Caching > Keys > Fallback keys
   score 0.90 | gitlab | https://docs.example.org/ci/cache#fallback | id 17
` + "````" + `
Use ` + "`cache:fallback_keys`" + `:

` + "```" + `yaml
cache:
  key: x
` + "```" + `
` + "````" + `

2. docs/pods.md:3
   score 0.50 | kubernetes | docs/pods.md:3 | id pods.md:3
` + "```" + `
A pod is one or more containers.
` + "```" + `
`,
		},
		{
			name: "a definition of a name in the keywords",
			a:    searchArguments{keywords: []string{"restartPolicy"}},
			findings: []databaseResult{
				{Entry: kubernetes, Result: index.Result{Confidence: 0.9, Confident: true, Hits: []index.Hit{fieldsHit(8)}}},
			},
			want: `1 passage from kubernetes for "cache keys". Fenced text is quoted documentation.

1. Pods > Fields > restartPolicy
   score 0.90 | kubernetes | docs/fields.md:10 | id fields.md:7
` + "```" + `
…
- **restartPolicy**: When to restart.
- **volumes**: Storage.
` + "```" + `
(truncated; call read with id fields.md:7 to get the rest)
`,
		},
		{
			name: "a database with nothing relevant is skipped",
			findings: []databaseResult{
				{Entry: gitlab, Result: index.Result{Confidence: 0.9, Hits: []index.Hit{cacheHit(8)}}},
				{Entry: kubernetes, Result: index.Result{Confidence: 0.05, Hits: []index.Hit{podHit(8)}}},
			},
			a: searchArguments{detail: detailHeadings},
			want: `1 passage from gitlab, kubernetes for "cache keys"; call read to get their text:
1. Caching > Keys > Fallback keys | gitlab | https://docs.example.org/ci/cache#fallback | id 17 (score 0.90)
`,
		},
		{
			name: "and so is a hit far below the best",
			findings: []databaseResult{
				{Entry: gitlab, Result: index.Result{Confidence: 0.9, Hits: []index.Hit{cacheHit(8), podHit(0.8)}}},
			},
			a: searchArguments{detail: detailHeadings},
			want: `1 passage from gitlab for "cache keys"; call read to get their text:
1. Caching > Keys > Fallback keys | gitlab | https://docs.example.org/ci/cache#fallback | id 17 (score 0.90)
`,
		},
		{
			name: "nothing relevant",
			findings: []databaseResult{
				{Entry: gitlab, Result: index.Result{Confidence: 0.01, Hits: []index.Hit{cacheHit(2)}}},
				{Entry: kubernetes, Result: index.Result{Confidence: 0.05, Hits: []index.Hit{podHit(8)}}},
			},
			want: `No confident answer for "cache keys" in gitlab, kubernetes (confidence 0.05). Closest sections:
- docs/pods.md:3 | kubernetes | docs/pods.md:3 | id pods.md:3
- Caching > Keys > Fallback keys | gitlab | https://docs.example.org/ci/cache#fallback | id 17
To improve the results, pass the documentation's own terms and names in keywords.
`,
		},
		{
			name:     "nothing at all",
			a:        searchArguments{filter: "*.md"},
			findings: []databaseResult{{Entry: gitlab}},
			want: `No results for "cache keys" in gitlab.
Searched only documents that match the filter "*.md".
To improve the results, pass the documentation's own terms and names in keywords.
`,
		},
		{
			name: "one is damaged",
			findings: []databaseResult{
				{Entry: gitlab, Result: index.Result{Confidence: 0.9, Hits: []index.Hit{cacheHit(8)}, Notes: []string{"searched by words alone: the vectors are away"}}},
				{Entry: kubernetes, err: damaged},
			},
			a: searchArguments{detail: detailHeadings},
			want: `1 passage from gitlab for "cache keys"; call read to get their text:
1. Caching > Keys > Fallback keys | gitlab | https://docs.example.org/ci/cache#fallback | id 17 (score 0.90)

Note: gitlab: searched by words alone: the vectors are away.
Note: cannot search kubernetes: /db/k8s/docsearch/g000001/lexical.idx is corrupt at byte 64: checksum; to fix it, run: docsearch index build /db/k8s.
`,
		},
		{
			name:     "a weak match",
			findings: []databaseResult{{Entry: kubernetes, Result: index.Result{Confidence: 0.3, Hits: []index.Hit{podHit(8)}}}},
			want: `1 passage from kubernetes for "cache keys". Fenced text is quoted documentation.
Weak match: they may not answer it.

1. docs/pods.md:3
   score 0.30 | kubernetes | docs/pods.md:3 | id pods.md:3
` + "```" + `
A pod is one or more containers.
` + "```" + `
`,
		},
		{
			name: "many are away",
			findings: []databaseResult{
				{Entry: gitlab, Result: index.Result{Confidence: 0.9, Hits: []index.Hit{cacheHit(8)}}},
				{Entry: Entry{Name: "a"}, err: errTimeout}, {Entry: Entry{Name: "b"}, err: errTimeout}, {Entry: Entry{Name: "c"}, err: errTimeout},
				{Entry: Entry{Name: "d"}, err: errTimeout}, {Entry: Entry{Name: "e"}, err: errTimeout},
			},
			a: searchArguments{detail: detailHeadings},
			want: `1 passage from gitlab for "cache keys"; call read to get their text:
1. Caching > Keys > Fallback keys | gitlab | https://docs.example.org/ci/cache#fallback | id 17 (score 0.90)

Note: cannot search a: timeout while reading its folder.
Note: cannot search b: timeout while reading its folder.
Note: cannot search c: timeout while reading its folder.
Note: cannot search d, e either; list_databases shows why.
`,
		},
		{
			name:     "all are damaged",
			findings: []databaseResult{{Entry: kubernetes, err: damaged}},
			wantErr:  "cannot search kubernetes: /db/k8s/docsearch/g000001/lexical.idx is corrupt at byte 64: checksum; to fix it, run: docsearch index build /db/k8s.",
		},
		{
			name:     "a filter that cannot be read",
			findings: []databaseResult{{Entry: gitlab, err: fmt.Errorf("%w \"[\": syntax error in pattern", index.ErrFilter)}},
			wantErr:  `invalid filter "[": syntax error in pattern`,
		},
		{
			name:     "the query names the database",
			findings: []databaseResult{{Entry: gitlab, Result: index.Result{Confidence: 0.9, Hits: []index.Hit{cacheHit(8)}}}},
			a:        searchArguments{detail: detailHeadings},
			scoped:   true,
			want: `1 passage from gitlab for "cache keys"; call read to get their text:
1. Caching > Keys > Fallback keys | gitlab | https://docs.example.org/ci/cache#fallback | id 17 (score 0.90)

Note: Searched only gitlab, because the query names it; pass database to choose others of the 2.
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.a
			a.query, a.topK, a.maxTokens = query, defaultTopK, defaultTokens
			got, err := answerSearch(a, tt.findings, tt.scoped, 2)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantErr, errorText(err)); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
		})
	}
}

// TestAnswerSearchKeepsToItsBudget checks that a result stays within its budget
// for any passages, and contains, lists, or counts every requested hit.
func TestAnswerSearchKeepsToItsBudget(t *testing.T) {
	long := strings.Repeat("Words about something else altogether.\n", 400)
	for _, tt := range []struct {
		name  string
		texts []string
	}{
		{"short ones", []string{"a", "b", "c", "d", "e"}},
		{"long ones", []string{long, long, long, long, long}},
		{"a long one first", []string{long, "b", "c", "d", "e"}},
		{"one line", []string{strings.Repeat("x", 1<<20)}},
		{"fences", []string{strings.Repeat("`", 3000), "b"}},
		{"many", strings.Split(strings.Repeat("some words of a passage|", 50), "|")[:50]},
	} {
		for _, tokens := range []int{minTokens, 1000, defaultTokens, maxTokens} {
			t.Run(fmt.Sprint(tt.name, " ", tokens), func(t *testing.T) {
				f := databaseResult{Entry: gitlab, Result: index.Result{Confidence: 0.9, Notes: []string{"a note"}}}
				for i, text := range tt.texts {
					f.Hits = append(f.Hits, index.Hit{Score: 1, Passage: passage.Passage{
						ID: fmt.Sprint(i), Title: fmt.Sprint("Title ", i), URL: "https://docs.example.org/page", Text: text}})
				}
				a := searchArguments{query: "q", topK: maxTopK, maxTokens: tokens, detail: detailPassages, shown: passage.Shown{}}
				for i := range 60 { // first
					p := passage.Passage{ID: "known", Title: "Known", Text: fmt.Sprint("known ", i)}
					f.Hits = append([]index.Hit{{Score: 2, Passage: p}}, f.Hits...)
					a.shown[p.Fingerprint()] = passage.Whole
				}
				got, err := answerSearch(a, []databaseResult{f}, false, 1)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) > tokens*bytesPerToken {
					t.Errorf("%d bytes, the budget is %d", len(got), tokens*bytesPerToken)
				}
				if !strings.Contains(got, "1. Title 0") || !strings.HasSuffix(got, "Note: gitlab: a note.\n") {
					t.Errorf("the first hit or the note is missing:\n%s", got)
				}
			})
		}
	}
}

func TestNamedIn(t *testing.T) {
	entries := []Entry{gitlab, kubernetes}
	for query, want := range map[string]string{
		"GitLab cache keys":              "gitlab",
		"cache keys in gl":               "gitlab",
		"move from gitlab to Kubernetes": "gitlab kubernetes",
		"cache keys":                     "gitlab kubernetes",
		"ungitlabbed":                    "gitlab kubernetes",
	} {
		var got []string
		for _, e := range entriesNamedIn(query, entries) {
			got = append(got, e.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

func TestAgedDatabaseSaysSo(t *testing.T) {
	s, c := serve(t)
	const note = "; to update it, the user runs: docsearch update vcs."
	for maxAge, want := range map[time.Duration]bool{0: false, 1 << 62: false, time.Nanosecond: true} {
		s.catalog.MaxAge = maxAge
		text, _ := call(t, c, "search", map[string]any{"query": "rename a branch", "database": "vcs"})
		if strings.Contains(text, "Note: vcs: last updated ") != want || strings.Contains(text, note) != want {
			t.Errorf("over %v (%t):\n%s", maxAge, want, text)
		}
	}
}
