package edit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// For any layout of the file, an entry can be added and changed, and every comment stays.
func TestAnyLayout(t *testing.T) {
	for seed := range uint64(600) {
		w, file, text := randomFile(seed)
		for _, e := range []Entry{
			gitlab, // a new entry
			{Name: "name-1", Keywords: []string{"another"}, Path: "/elsewhere", Description: "Something: else", URLs: []string{"https://b.test/"}},
		} {
			got, err := Put("/home/me/"+file, []byte(text), e)
			if err != nil {
				t.Fatalf("seed %d: put %s: %v\n%s", seed, e.name(), err, text)
			}
			// The new entry can be removed again.
			if without, err := Remove("/home/me/"+file, got, e.name()); err != nil {
				t.Fatalf("seed %d: remove %s: %v\n%s", seed, e.name(), err, got)
			} else if again, err := Remove("/home/me/"+file, without, e.name()); err != nil || string(again) != string(without) {
				t.Fatalf("seed %d: remove %s twice: %v\n%s", seed, e.name(), err, again)
			}
			for i := range w.comments {
				if mark := fmt.Sprintf("# comment %d.", i); strings.Contains(text, mark) && !strings.Contains(string(got), mark) {
					t.Fatalf("seed %d: %q is lost\n%s\nhas become\n%s", seed, mark, text, got)
				}
			}
			if strings.Contains(text, "\r\n") && strings.Count(string(got), "\n") != strings.Count(string(got), "\r\n") {
				t.Fatalf("seed %d: line endings are mixed\n%q", seed, got)
			}
		}
	}
}

// For any layout of the file, each of the entries can be removed, and then the others.
func TestRemoveFromAnyLayout(t *testing.T) {
	for seed := range uint64(600) {
		w, file, text := randomFile(seed)
		got := []byte(text)
		for _, i := range w.rng.Perm(3) {
			name := fmt.Sprintf("name-%d", i)
			without, err := Remove("/home/me/"+file, got, name)
			if err != nil {
				t.Fatalf("seed %d: remove %s: %v\n%s", seed, name, err, got)
			}
			if len(without) >= len(got) {
				t.Fatalf("seed %d: %s is still there\n%s", seed, name, without)
			}
			if strings.Contains(text, "\r\n") && strings.Count(string(without), "\n") != strings.Count(string(without), "\r\n") {
				t.Fatalf("seed %d: line endings are mixed\n%q", seed, without)
			}
			got = without
		}
	}
}

// A writer writes config files with three databases in random layouts.
type writer struct {
	rng      *rand.Rand
	comments int
}

func (w *writer) maybe() bool { return w.rng.IntN(2) == 0 }

// comment returns a comment for the end of a line, or "".
func (w *writer) comment() string {
	if w.maybe() {
		return ""
	}
	w.comments++
	return fmt.Sprintf(" # comment %d.", w.comments-1)
}

// lines returns comments and blank lines with that indentation, or "".
func (w *writer) lines(indent string) string {
	var b strings.Builder
	for range w.rng.IntN(3) {
		if c := w.comment(); c != "" {
			b.WriteString(indent + strings.TrimSpace(c))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fields returns the keys of an entry in random order.
func (w *writer) fields() []string {
	fields := []string{"name", "keywords", "path", "description"}
	if w.maybe() {
		fields = append(fields, "urls")
	}
	if w.maybe() {
		fields = append(fields, "version")
	}
	w.rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return fields
}

// value returns the value of a field of entry i, with brackets and quotes. open is the
// layout of lists: the text after the opening bracket, between items, and before the
// closing bracket.
func (w *writer) value(field string, i int, open [3]string) string {
	switch field {
	case "name":
		return fmt.Sprintf(`"name-%d"`, i)
	case "keywords":
		if w.maybe() {
			return fmt.Sprintf(`"word%d"`, i)
		}
		return fmt.Sprintf(`[%s"word%d",%s"a, [b]",%s"c++"%s]`, open[0], i, open[1], open[1], open[2])
	case "urls":
		return fmt.Sprintf(`[%s"https://a.test/#%d"%s]`, open[0], i, open[2])
	case "path":
		return fmt.Sprintf(`"/p/%d # x"`, i)
	case "description":
		return fmt.Sprintf(`"It's \"%d\": {all} of it"`, i)
	}
	return `"1.0"`
}

func (w *writer) json() string {
	newline, indent := "\n", []string{"  ", "\t", "    "}[w.rng.IntN(3)]
	if w.maybe() {
		newline, indent = " ", ""
	}
	entryLines := w.maybe()
	var entries []string
	for i := range 3 {
		between, open := newline+indent+indent+indent, [3]string{}
		if w.maybe() {
			open = [3]string{between + indent, between + indent, between}
		}
		if !entryLines {
			between = " "
		}
		var members []string
		for _, f := range w.fields() {
			members = append(members, fmt.Sprintf("%q: %s", f, w.value(f, i, open)))
		}
		entries = append(entries, "{"+between+strings.Join(members, ","+between)+strings.TrimSuffix(between, indent)+"}")
	}
	return "{" + newline + indent + `"search": {"top_k": 3},` + newline + indent + `"databases": [` + newline + indent + indent +
		strings.Join(entries, ","+newline+indent+indent) + newline + indent + `]` + newline + "}" + newline
}

func (w *writer) yaml() string {
	var b strings.Builder
	b.WriteString(w.lines("") + "databases:" + w.comment() + "\n")
	indent := []string{"", "  ", "    "}[w.rng.IntN(3)]
	for i := range 3 {
		b.WriteString(w.lines(indent + "  "))
		if w.maybe() {
			var members []string
			for _, f := range w.fields() {
				members = append(members, f+": "+w.value(f, i, [3]string{}))
			}
			b.WriteString(indent + "- {" + strings.Join(members, ", ") + "}" + w.comment() + "\n")
			continue
		}
		for k, f := range w.fields() {
			mark := "  "
			if k == 0 {
				mark = "- "
			}
			b.WriteString(indent + mark + f + ":")
			switch {
			case f == "keywords" && w.maybe():
				b.WriteString(w.comment() + "\n" + indent + "  - word" + fmt.Sprint(i) + w.comment() + "\n" + indent + "  - 'it''s'" + w.comment() + "\n")
			case f == "path" && w.maybe():
				fmt.Fprintf(&b, " /p/%d%s\n", i, w.comment())
			case f == "version" && w.maybe():
				b.WriteString(" |\n" + indent + "    1.0\n" + indent + "    # no comment\n")
			default:
				open := [3]string{}
				if w.maybe() {
					line := "\n" + indent + "      "
					open = [3]string{line, line, line}
				}
				b.WriteString(" " + w.value(f, i, open) + w.comment() + "\n")
			}
			b.WriteString(w.lines(indent + "  "))
		}
	}
	b.WriteString(w.lines(""))
	if w.maybe() {
		b.WriteString("search:\n  top_k: 3\n")
	}
	if text := b.String(); w.maybe() && !strings.HasSuffix(text, "no comment\n") { // with the comment, the text would be a different one
		return strings.TrimSuffix(text, "\n")
	}
	return b.String()
}

func (w *writer) toml() string {
	var b strings.Builder
	tables := w.maybe()
	if !tables {
		b.WriteString(w.lines("") + "databases = [" + w.comment() + "\n")
	}
	for i := range 3 {
		open := [3]string{}
		if w.maybe() && tables {
			open = [3]string{w.comment() + "\n  ", w.comment() + "\n  ", w.comment() + "\n"}
		}
		b.WriteString(w.lines(""))
		if tables {
			b.WriteString("[[databases]]" + w.comment() + "\n")
			for _, f := range w.fields() {
				b.WriteString(f + " = " + w.value(f, i, open) + w.comment() + "\n" + w.lines(""))
			}
			continue
		}
		var members []string
		for _, f := range w.fields() {
			members = append(members, f+" = "+w.value(f, i, open))
		}
		b.WriteString("  { " + strings.Join(members, ", ") + " }" + "," + w.comment() + "\n")
	}
	if !tables {
		b.WriteString("]\n")
	}
	b.WriteString(w.lines("") + "[search]" + w.comment() + "\ntop_k = 3\n")
	return b.String()
}

// randomFile returns a file in a random layout, in one of the formats.
func randomFile(seed uint64) (w *writer, file, text string) {
	w = &writer{rng: rand.New(rand.NewPCG(seed, 0))}
	switch seed % 3 {
	case 0:
		file, text = "config.json", w.json()
	case 1:
		file, text = "config.yaml", w.yaml()
	case 2:
		file, text = "config.toml", w.toml()
	}
	if w.maybe() {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return w, file, text
}
