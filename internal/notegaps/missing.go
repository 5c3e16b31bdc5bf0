package notegaps

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/notebook"
)

// minSessions is the number of sessions in which a failure must occur to need a note: an
// agent that works on a problem repeats its failures within a session.
const minSessions = 2

// withoutNote finds the failures and corrections that no note is about, and notes for
// them.
func (a *analysis) withoutNote(ctx context.Context) error {
	type group struct {
		need Need
		kind string // of the calls
		text string // error message; empty: all corrections of calls of that kind
	}
	groups := map[group][]int{}
	for i, e := range a.evidence {
		if e.need == None || e.note != "" || len(a.families[i]) == 0 {
			continue
		}
		g := group{need: e.need, kind: a.kindOf(i, nil)}
		if e.need == Failed {
			g.text = e.text
		}
		groups[g] = append(groups[g], i)
	}
	order := slices.SortedFunc(maps.Keys(groups), func(x, y group) int {
		return cmp.Or(len(groups[y])-len(groups[x]), cmp.Compare(x.kind, y.kind), cmp.Compare(x.text, y.text))
	})
	for _, g := range order {
		calls := groups[g]
		if g.need == Failed && a.sessions(calls) < minSessions {
			continue
		}
		gap := Gap{Kind: NoNote, Cases: a.cases(calls)}
		if err := a.newNote(ctx, &gap, g.kind, calls); err != nil {
			return err
		}
		a.report.Gaps = append(a.report.Gaps, gap)
	}
	return nil
}

func (a *analysis) sessions(calls []int) int {
	set := map[string]bool{}
	for _, i := range calls {
		set[a.in.Calls[i].Session] = true
	}
	return len(set)
}

// newNote tests a new note about the calls of a gap.
func (a *analysis) newNote(ctx context.Context, gap *Gap, kind string, calls []int) error {
	c := Change{New: true, families: []string{kind}}
	if first := gap.Cases[0]; first.Need == Failed {
		c.Fields.Title = cut(kind + ": " + first.Text)
	} else {
		c.Fields.Title = titleOf(first.Text)
		for _, k := range gap.Cases {
			if !strings.Contains(c.Text, k.Text) {
				c.Text = strings.TrimSpace(c.Text + "\n\n" + k.Text)
			}
		}
	}
	if a.calls[calls[0]].Path != "" {
		c.Fields.AppliesWhen.Paths = c.families
	} else {
		c.Fields.AppliesWhen.Commands = c.families
	}
	name := notebook.NameFor(c.Fields.Title)
	text, err := c.Apply(&notebook.Note{}, a.in.Language)
	if err != nil || slices.ContainsFunc(a.notes, func(n notebook.Note) bool { return n.Name == name }) {
		return nil // the gap is reported without a note
	}
	after, ok, err := a.test(ctx, name, text)
	if !ok {
		gap.Untested = true
		return err
	}
	related := func(i int) bool { return a.calls[i].In(c.families) }
	if !a.closes(after, name, calls, related, func(int) bool { return false }) {
		return nil
	}
	found, err := lookup.Indexes{}.Similar(&a.sim.db, c.Fields.Title, c.Fields.AppliesWhen.Commands)
	if err != nil {
		return err
	}
	for _, e := range found {
		if e.Document != name {
			c.Similar = append(c.Similar, e.Document)
		}
	}
	gap.Change = &c
	for _, i := range after.calls(name) {
		if !slices.Contains(calls, i) {
			gap.Added = append(gap.Added, i)
		}
	}
	return nil
}

// titleOf returns a title for a note with this text: its first sentence, without the word
// that makes it a correction.
func titleOf(text string) string {
	title := strings.TrimSpace(firstSentence(text))
	for _, start := range []string{"no", "nope", "please", "stop", "wrong"} {
		n := len(start)
		if len(title) > n && strings.EqualFold(title[:n], start) && strings.IndexByte(" ,.!:;", title[n]) >= 0 {
			title = strings.TrimLeft(title[n:], " ,.!:;-")
		}
	}
	first, size := utf8.DecodeRuneInString(title)
	if size > 0 {
		title = string(unicode.ToUpper(first)) + title[size:]
	}
	return cmp.Or(cut(title), "Correction")
}

// maxTitle limits a title, in bytes.
const maxTitle = 100

// cut makes a title one line of visible text, and shortens it at the end of a word.
func cut(title string) string {
	title = compact(title)
	if len(title) <= maxTitle {
		return title
	}
	title = strings.ToValidUTF8(title[:maxTitle], "")
	if i := strings.LastIndexByte(title, ' '); i > 0 {
		title = title[:i]
	}
	return title
}

// compact returns a text on one line without repeated words, such as those of an error
// message whose prefixes were removed.
func compact(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	return strings.Join(slices.CompactFunc(words, strings.EqualFold), " ")
}
