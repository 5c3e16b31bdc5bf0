package passage

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       Passage
		wantErr    bool
	}{
		{name: "old LEANN", line: `{"id": "7", "text": "t", "metadata": {}}`, want: Passage{ID: "7", Text: "t"}},
		{name: "newer LEANN", line: `{"id":"a","text":"t","metadata":{"file_path":"/d/x.md","file_name":"x.md","id":"a"}}`,
			want: Passage{ID: "a", Text: "t", Path: "/d/x.md", Extra: map[string]json.RawMessage{"file_name": json.RawMessage(`"x.md"`)}}},
		{name: "docsearch", line: `{"id":"a","text":"t","metadata":{"title":"T","headings":["A","B"],"url":"https://e.org/p#a","start_line":3,"end_line":9}}`,
			want: Passage{ID: "a", Text: "t", Title: "T", Headings: []string{"A", "B"}, URL: "https://e.org/p#a", StartLine: 3, EndLine: 9}},
		{name: "url as source", line: `{"id":"a","text":"t","metadata":{"source":"http://e.org/p"}}`, want: Passage{ID: "a", Text: "t", URL: "http://e.org/p"}},
		{name: "number as id", line: `{"id":12,"text":"t"}`, want: Passage{ID: "12", Text: "t"}},
		{name: "id in metadata", line: `{"text":"t","metadata":{"id":"m"}}`, want: Passage{ID: "m", Text: "t"}},
		{name: "no id", line: `{"text":"t"}`, want: Passage{Text: "t"}},
		{name: "metadata of a wrong type", line: `{"id":"a","text":"t","metadata":[1]}`, want: Passage{ID: "a", Text: "t"}},
		{name: "title of a wrong type", line: `{"id":"a","text":"t","metadata":{"title":5}}`,
			want: Passage{ID: "a", Text: "t", Extra: map[string]json.RawMessage{"title": json.RawMessage("5")}}},
		{name: "lines in the wrong order", line: `{"id":"a","text":"t","metadata":{"path":"p","start_line":9,"end_line":2}}`,
			want: Passage{ID: "a", Text: "t", Path: "p", StartLine: 9, EndLine: 9}},
		{name: "path also for LEANN", line: `{"id":"a","text":"t","metadata":{"path":"p","file_path":"p"}}`, want: Passage{ID: "a", Text: "t", Path: "p"}},
		{name: "another file_path", line: `{"id":"a","text":"t","metadata":{"path":"p","file_path":"/q"}}`,
			want: Passage{ID: "a", Text: "t", Path: "p", Extra: map[string]json.RawMessage{"file_path": json.RawMessage(`"/q"`)}}},
		{name: "no text", line: `{"id":"a"}`, wantErr: true},
		{name: "text of a wrong type", line: `{"id":"a","text":5}`, wantErr: true},
		{name: "no object", line: `[]`, wantErr: true},
		{name: "nothing", line: ``, wantErr: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.line))
			if (err != nil) != tt.wantErr {
				t.Fatalf("error %v, want one: %v", err, tt.wantErr)
			}
			if len(got.Extra) == 0 {
				got.Extra = nil
			}
			if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAppendLineKeepsWhatLEANNReads(t *testing.T) {
	p := Passage{ID: "1", Text: "a < b & \"c\" ü\u2028", Title: "T", Headings: []string{"H"}, Path: "p.md", StartLine: 1, EndLine: 2,
		Extra: map[string]json.RawMessage{"z": json.RawMessage("1"), "b": json.RawMessage(`"x"`)}}
	const want = `{"id": "1", "text": "a < b & \"c\" ü\u2028", "metadata": {"title": "T", "headings": ["H"], "path": "p.md", "file_path": "p.md", "start_line": 1, "end_line": 2, "b": "x", "z": 1}}` + "\n"
	if got := string(p.AppendLine(nil)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id": "7", "text": "t", "metadata": {"title": "x", "headings": ["a"], "start_line": 1}}`))
	f.Add([]byte(`{"text":"t","metadata":{"source":"https://e.org/#x","k":[1,{"a":null}]}}`))
	f.Add([]byte(`{"text": "t", "metadata": {"id": 7, "path": "a", "links": [{"to": "b#c", "text": "d"}]}}`))
	f.Add([]byte(`{"text": "t", "metadata": {"tags": ["a"], "pinned": true, "priority": -2, "applies_when": {"paths": ["*.go"], "x": 1}}}`))
	f.Add([]byte(`{"text": "t", "metadata": {"path": "p", "file_path": "/q", "url": "x"}}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, err := Decode(line)
		if err != nil {
			return
		}
		written := p.AppendLine(nil)
		again, err := Decode(written)
		if err != nil {
			t.Fatalf("the encoded result of Decode does not decode: %v", err)
		}
		if again.ID != p.ID || again.Text != p.Text || again.Document() != p.Document() || again.StartLine != p.StartLine {
			t.Fatalf("changed by writing and reading: %+v, then %+v", p, again)
		}
		use := p.NoteMeta()
		p.SetNoteMeta(use)
		if back := p.NoteMeta(); !slices.Equal(back.Tags, use.Tags) || back.Pinned != use.Pinned || back.Priority != use.Priority || back.AppliesWhen.Any() != use.AppliesWhen.Any() {
			t.Fatalf("use %+v was read back as %+v", use, back)
		}
		if id, err := DecodeID(written); err != nil || id != p.ID {
			t.Fatalf("DecodeID is %q, %v, want %q", id, err, p.ID)
		}
		if document, links := DecodeLinks(written); document != p.Document() || !slices.Equal(links, p.Links()) {
			t.Fatalf("DecodeLinks is %q, %v, want %q, %v", document, links, p.Document(), p.Links())
		}
	})
}
