package passage

import (
	"bytes"
	"strings"
	"testing"
)

func TestMayLink(t *testing.T) {
	link := func(links ...Link) string {
		p := Passage{ID: "x", Text: `say "links": [{"to":"a"}] to a`, Path: "p"}
		p.SetLinks(links)
		return string(p.AppendLine(nil))
	}
	for _, tt := range []struct {
		line string
		want bool
	}{
		{link(), false},
		{link(Link{To: "b"}), false},
		{link(Link{To: "a"}), true},
		{link(Link{To: "b", Text: `a "quoted\" text`}, Link{To: "a#x", Text: "y"}), true},
		{link(Link{To: "b", Text: "a"}, Link{To: "c#a"}), false},
		{link(Link{To: `a"`}), true}, // in doubt
		{`{"text": "t", "metadata": {"links": [{"text":"y","to":"b"}]}}`, true},
		{`{"text": "t", "metadata": {"links" : []}}`, true},
		{`{"text": "t", "metadata": {"other": {"links": [{"to":"b"}]}, "links": [{"to":"a"}]}}`, true},
	} {
		if got := MayLink([]byte(tt.line), func(key []byte) bool { return string(key) == "a" }); got != tt.want {
			t.Errorf("%s: %t", tt.line, got)
		}
	}
}

// FuzzMayLink checks that MayLink never misses a link.
func FuzzMayLink(f *testing.F) {
	f.Add([]byte(`{"id": "1", "text": "t", "metadata": {"path": "p", "links": [{"to":"a","text":"x\\"},{"to":"b#c"}]}}`), "b")
	f.Add([]byte(`{"text":"t","metadata":{"links":[{"to":"b","To":"a"}]}}`), "a")
	f.Add([]byte(`{"text":"t","metadata":{"links": [{"to":"b"},{"to":"\u0061"}]}}`), "a")
	f.Fuzz(func(t *testing.T, line []byte, key string) {
		if !bytes.Contains(line, []byte(`"links"`)) || MayLink(line, func(k []byte) bool { return string(k) == key }) {
			return
		}
		_, links := DecodeLinks(line)
		for _, link := range links {
			if to, _, _ := strings.Cut(link.To, "#"); to == key {
				t.Errorf("a link to %q was overlooked", link.To)
			}
		}
	})
}
