package passage

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// The reader accepts only input that encoding/json accepts, and returns the same value.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		`{"id": "7", "text": "a\nb \u00e9 \ud83d\ude00 \"", "metadata": {"title": "x", "n": [1, {"a": null}, true], "": 0}}`,
		`{"id":7,"metadata":{"a":1,"a":2},"text":"t"} `,
		`{"ID":"7","text":"t","text":"u","metadata":null}`,
		`{"text": "\ud800", "metadata": {"x": -1.5e3, "y": 01}}`,
		"{\"text\": \"\x80\", \"\x80\": 1}",
		`["a", "b\\", ""]`, `[]`, `[null]`, `"\u12"`, `"a`, `007`, `123456789`, `1234567890`, ` 5 `, `1e3`,
		`[{"to": "a#b", "text": "c"}, {}]`, `[{"To": "a"}]`, `[{"to": null}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, ok := splitLine(b); ok {
			sameAsJSON(t, b, got)
		}
		reads(t, b, (*jsonReader).string)
		reads(t, b, (*jsonReader).strings)
		reads(t, b, (*jsonReader).number)
		reads(t, b, (*jsonReader).links)
	})
}

func reads[T any](t *testing.T, b []byte, read func(*jsonReader) T) {
	t.Helper()
	r := jsonReader{b: b}
	if got := read(&r); r.done() {
		sameAsJSON(t, b, got)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a \"b\" \\ c\n\r\t\b\x00\x7f", "ü 😀", "\u2028", "\xff<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := appendString([]byte("x"), s), appendJSON([]byte("x"), s); string(got) != string(want) {
			t.Errorf("%q is written as %s, want %s", s, got, want)
		}
	})
}

func sameAsJSON[T any](t *testing.T, b []byte, got T) {
	t.Helper()
	var want T
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatalf("%q was read as %#v, package json says %v", b, got, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q was read as %#v, package json reads %#v", b, got, want)
	}
}

// The reader supports the lines written by docsearch.
func TestReaderSupportsWrittenLines(t *testing.T) {
	p := Passage{ID: "1", Text: "a <b> & \"c\" \\ ü\u2028\x01\n😀", Title: "T", Headings: []string{"H", "I\t"}, Path: "p.md", StartLine: 1, EndLine: 20, Anchors: []string{"a"}}
	p.SetLinks([]Link{{To: "q.md#r", Text: "R"}, {To: "s.md"}})
	p.SetTerms([]string{"t", "u"})
	if _, ok := splitLine(p.AppendLine(nil)); !ok {
		t.Error("the line is left to package json")
	}
	r := jsonReader{b: p.Extra["links"]}
	if r.links(); !r.done() {
		t.Error("the links are left to package json")
	}
}

func BenchmarkDecode(b *testing.B) {
	p := Passage{ID: "0123456789abcdef", Title: "A page", Headings: []string{"One", "Two"}, Path: "library/page.html", Anchors: []string{"one", "two"}}
	for i := range 40 {
		p.Text += fmt.Sprintf("Line %d says \"something\" about the page.\n", i)
	}
	p.SetLinks([]Link{{To: "library/other.html#three", Text: "three"}, {To: "library/fourth.html"}})
	line := p.AppendLine(nil)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(line); err != nil {
			b.Fatal(err)
		}
	}
}
