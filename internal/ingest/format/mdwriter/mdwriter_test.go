package mdwriter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriter(t *testing.T) {
	var w Writer
	w.Text("before", 1)
	w.Heading(1, " A \n b ", 3)
	w.Anchor("a")
	w.Anchor(" ")
	w.Push("- ", "  ")
	w.Text("one\n# two", 4)
	w.Push("> ", "> ")
	w.Text("quoted", 7)
	w.Code("go", []Line{{"", 8}, {"x ```", 9}, {"", 10}})
	w.Pop()
	w.Pop()
	w.Push("- ", "  ")
	w.Tight()
	w.Text("next", 11)
	w.Pop()
	w.Anchor("late")
	w.Table([]Row{{[]string{"a|b", "c\nd"}, 12}, {[]string{"1"}, 13}})
	w.Heading(2, "B", 15)
	w.Resume(1)
	w.Resume(1)
	w.Text("more", 17)
	want := []Section{
		{Lines: []Line{{"before", 1}}, From: 1},
		{Level: 1, Heading: "A b", From: 3, Anchors: []Anchor{{"a", 0}, {"late", 9}}, Lines: []Line{
			{"- one", 4}, {`  \# two`, 5}, {"", 7}, {"  > quoted", 7}, {"  >", 9}, {"  > ````go", 9}, {"  > x ```", 9}, {"  > ````", 9},
			{"- next", 11}, {"", 12}, {`| a\|b | c d |`, 12}, {"| --- | --- |", 12}, {"| 1 |  |", 13},
		}},
		{Level: 2, Heading: "B", From: 15},
		{Level: 1, From: 17, Lines: []Line{{"more", 17}}},
	}
	if diff := cmp.Diff(want, w.Document().Sections); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"# a": `\# a`, "#": `\#`, "#a": "#a", "####### a": "####### a", "> a": `\> a`, "---": `\---`, "--a": "--a", "===": `\===`,
		"  ```x": "  \\```x", "``a``": "``a``", "    # a": "    # a", "": "", "- a": "- a",
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCodeSpan(t *testing.T) {
	for in, want := range map[string]string{" a ": "`a`", "a`b": "`` a`b ``", "``": "``` `` ```"} {
		if got := CodeSpan(in); got != want {
			t.Errorf("CodeSpan(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{"a `b` **c** *d e*": "a b c d e", "2 * 3 * 4": "2 * 3 * 4", `\# x`: "# x"} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}
