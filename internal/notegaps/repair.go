package notegaps

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notebook"
	"github.com/docsearch/docsearch/internal/notes"
)

// notShown finds the calls that needed a note and did not get it, and the smallest tested
// change of the note that shows it with them.
func (a *analysis) notShown(ctx context.Context, n *notebook.Note) error {
	groups := map[string][]int{} // by kind
	var calls []int
	for i := range a.calls {
		if a.evidence[i].note != n.Name || a.base.has(i, n.Name) {
			continue
		}
		calls = append(calls, i)
		kind := a.kindOf(i, n)
		groups[kind] = append(groups[kind], i)
	}
	if len(calls) == 0 {
		return nil
	}
	var change *Change
	var closed []int
	after := a.base
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		start := Change{}
		if change != nil {
			start = *change
		}
		must := append(slices.Clone(closed), groups[kind]...)
		next, result, err := a.repair(ctx, n, &start, kind, groups[kind], must)
		if err != nil {
			return err
		}
		if next != nil {
			change, after, closed = next, result, must
		}
	}
	gap := Gap{Kind: NotShown, Note: n.Name, Cases: a.cases(calls), Change: change, Untested: change == nil && a.left == 0}
	for i := range a.calls {
		switch is := after.has(i, n.Name); {
		case slices.Contains(calls, i):
			if !is {
				gap.Open = append(gap.Open, i)
			}
		case is && !a.base.has(i, n.Name):
			gap.Added = append(gap.Added, i)
		}
	}
	a.report.Gaps = append(a.report.Gaps, gap)
	return nil
}

// kindOf returns the kind of a call that the note is most likely about: the family with
// the most words of the note.
func (a *analysis) kindOf(i int, n *notebook.Note) string {
	best, most := "", -1
	have := map[string]bool{}
	if n != nil {
		have = a.noteTerms(n)
	}
	said := a.termsOf(a.evidence[i].text)
	for _, family := range a.families[i] {
		common := 0
		for t := range a.termsOf(family) {
			if have[t] {
				common++
			}
			if said[t] {
				common++
			}
		}
		if common > most {
			best, most = family, common
		}
	}
	return best
}

// repair returns the first change, in addition to start, that shows the note with the
// calls in must and, otherwise, only with calls of these kinds; nil if there is none.
func (a *analysis) repair(ctx context.Context, n *notebook.Note, start *Change, kind string, group, must []int) (*Change, shown, error) {
	var tried []string
	for _, c := range a.candidates(n, start, kind, group) {
		text, err := c.Apply(n, a.in.Language)
		if err != nil || slices.Contains(tried, text) {
			continue
		}
		tried = append(tried, text)
		after, ok, err := a.test(ctx, n.Name, text)
		if !ok {
			return nil, nil, err
		}
		related := func(i int) bool { return a.calls[i].In(c.families) }
		// A condition with a misspelled key is the author's intention.
		mayLose := func(i int) bool {
			return len(c.Without) > 0 && !slices.Contains(c.Without, "priority") && a.evidence[i].note != n.Name
		}
		if a.closes(after, n.Name, must, related, mayLose) {
			return &c, after, nil
		}
	}
	return nil, nil, nil
}

// closes reports whether a change shows the note with the calls in must, without changing
// anything for calls of other kinds.
func (a *analysis) closes(after shown, note string, must []int, related, mayLose func(int) bool) bool {
	for i := range a.calls {
		was, is := a.base.has(i, note), after.has(i, note)
		switch {
		case !is && slices.Contains(must, i),
			is && !was && !related(i),
			was && !is && !mayLose(i):
			return false
		}
		if was == is && !related(i) && !slices.Equal(a.base[i], after[i]) {
			return false // another note
		}
	}
	return true
}

// candidates returns the changes to try, the one with the least effect first: a key that
// is not known, conditions that the calls do not meet, a low priority, missing words, and
// new conditions.
func (a *analysis) candidates(n *notebook.Note, start *Change, kind string, group []int) []Change {
	base := start.copy()
	base.families = append(base.families, kind)
	list := a.renamed(n, &base, group)
	met := base.copy()
	for _, i := range group {
		a.meet(n, &met, i, kind)
	}
	list = append(list, met)
	if slices.ContainsFunc(n.Keys, func(k notebook.Key) bool { return k.Name == "priority" && isNegative(k.Items) }) {
		c := met.copy()
		c.Without = append(c.Without, "priority")
		list = append(list, c)
	}
	narrow := met.copy()
	key := "commands"
	if a.calls[group[0]].Path != "" {
		key = "paths"
	}
	narrow.add(n, key, kind)
	words := a.withWords(n, &met, group)
	if w := met.conditions(n); w.Any() {
		return append(append(list, words...), narrow)
	}
	return append(append(list, narrow), words...)
}

func isNegative(items []string) bool {
	if len(items) != 1 {
		return false
	}
	number, err := strconv.ParseFloat(items[0], 64)
	return err == nil && number < 0
}

// renamed returns the changes that give a key that is not known the meaning of a
// condition which a call meets.
func (a *analysis) renamed(n *notebook.Note, base *Change, group []int) []Change {
	var list []Change
	for _, k := range n.Keys {
		if len(k.Items) == 0 || slices.Contains(knownKeys, k.Name) || a.isRead(n, k) {
			continue
		}
		for _, key := range conditionKeys {
			w := passage.AppliesWhen{}
			*condition(&w, key) = k.Items
			meets := func(i int) bool {
				e := notes.Entry{Use: passage.NoteMeta{AppliesWhen: w}}
				a.calls[i].Judge(&e, a.in.Floor)
				return e.Unmet == ""
			}
			if !slices.ContainsFunc(group, func(i int) bool { return !meets(i) }) {
				c := base.copy()
				c.add(n, key, k.Items...)
				c.Without = append(c.Without, k.Name)
				if key == "paths" || key == "commands" {
					c.families = append(c.families, k.Items...)
				}
				list = append(list, c)
			}
		}
	}
	return list
}

var knownKeys = []string{"title", "tags", "keywords", "pinned", "priority"}

// isRead reports whether the front matter's reader has taken the values of a key for those
// of a condition.
func (a *analysis) isRead(n *notebook.Note, k notebook.Key) bool {
	for _, key := range conditionKeys {
		if list := *condition(&n.Fields.AppliesWhen, key); !slices.ContainsFunc(k.Items, func(s string) bool { return !slices.Contains(list, s) }) {
			return true
		}
	}
	return false
}

// meet adds the values to the conditions of a note that a call needs to meet them.
func (a *analysis) meet(n *notebook.Note, c *Change, i int, kind string) {
	for range conditionKeys {
		e := notes.Entry{Use: passage.NoteMeta{AppliesWhen: c.conditions(n)}}
		a.calls[i].Judge(&e, a.in.Floor)
		value := ""
		switch e.Unmet {
		case "":
			return
		case "tools":
			value = a.calls[i].Tool
		case "languages":
			if value = notes.Language(a.calls[i].Path); value == "" {
				e.Unmet, value = "commands", kind
			}
		default:
			value = kind
		}
		c.add(n, e.Unmet, value)
	}
}

// maxWords limits the words that a change adds.
const maxWords = 3

// withWords returns the changes that add words of the calls to the tags of the note, those
// that are rarest in other calls first.
func (a *analysis) withWords(n *notebook.Note, base *Change, group []int) []Change {
	type word struct {
		text   string
		others int // other calls with the word
	}
	var words []word
	have := a.noteTerms(n)
	call := *a.calls[group[0]]
	call.UserText = ""
	seen := map[string]bool{}
	for _, text := range wordsOf(call.Query().String()) {
		terms := a.analyzer.Terms(text)
		if len(text) < 3 || len(terms) != 1 || have[terms[0]] || seen[terms[0]] {
			continue
		}
		seen[terms[0]] = true
		w := word{text: text}
		for i := range a.calls {
			if a.terms[i][terms[0]] && !a.calls[i].In(base.families) {
				w.others++
			}
		}
		if !slices.ContainsFunc(group, func(i int) bool { return !a.terms[i][terms[0]] }) {
			words = append(words, w)
		}
	}
	slices.SortStableFunc(words, func(x, y word) int { return x.others - y.others })
	words = words[:min(len(words), maxWords)]
	var list []Change
	add := func(some ...word) {
		c := base.copy()
		if len(c.Fields.Tags) == 0 {
			c.Fields.Tags = slices.Clone(n.Fields.Tags)
		}
		for _, w := range some {
			c.Fields.Tags = append(c.Fields.Tags, w.text)
		}
		list = append(list, c)
	}
	for _, w := range words {
		add(w)
	}
	for k := 2; k <= len(words); k++ {
		add(words[:k]...)
	}
	return list
}

// Limits of the calls that a word or a command shows a note with, from which it is too
// general: their number and that of their kinds.
const (
	generalCalls = 8
	generalKinds = 4
)

// tooOften finds a word or a condition of the note that shows it with calls of many kinds,
// and a change that shows it only with the others.
func (a *analysis) tooOften(ctx context.Context, n *notebook.Note) error {
	calls := a.base.calls(n.Name)
	if len(calls) < generalCalls {
		return nil
	}
	candidates := a.narrowed(n, calls)
	for _, word := range a.generalWords(n, calls) {
		candidates = append(candidates, Change{Words: []string{word}})
	}
	for _, c := range candidates {
		text, err := c.Apply(n, a.in.Language)
		if err != nil {
			continue
		}
		after, ok, err := a.test(ctx, n.Name, text)
		if !ok {
			return err
		}
		var lost []int
		for _, i := range calls {
			if !after.has(i, n.Name) {
				lost = append(lost, i)
			}
		}
		mayLose := func(i int) bool {
			return a.evidence[i].note != n.Name && !(len(c.families) > 0 && a.calls[i].In(c.families))
		}
		none := func(int) bool { return false }
		if len(lost) >= generalCalls && a.kinds(lost) >= generalKinds && a.closes(after, n.Name, nil, none, mayLose) {
			a.report.Gaps = append(a.report.Gaps, Gap{Kind: TooOften, Note: n.Name, Cases: a.cases(lost), Change: &c})
			return nil
		}
	}
	return nil
}

// kinds returns the number of families of some calls.
func (a *analysis) kinds(calls []int) int {
	set := map[string]bool{}
	for _, i := range calls {
		for _, f := range a.families[i] {
			set[f] = true
		}
	}
	return len(set)
}

// generalWords returns the words of a note that are in the queries of many calls, the most
// frequent first. Calls of one program or one kind of file do not make a word general.
func (a *analysis) generalWords(n *notebook.Note, calls []int) []string {
	counts, surface := map[string]int{}, map[string]string{}
	for _, word := range wordsOf(n.Fields.Title + "\n" + strings.Join(n.Fields.Tags, "\n") + "\n" + n.Text) {
		terms := a.analyzer.Terms(word)
		if len(terms) != 1 || surface[terms[0]] != "" {
			continue
		}
		t := terms[0]
		surface[t] = word
		programs := map[string]bool{}
		for _, i := range calls {
			if a.terms[i][t] {
				counts[t]++
				programs[programOf(a.calls[i], a.families[i])] = true
			}
		}
		if !a.general[t] || counts[t] < generalCalls || len(programs) < generalKinds {
			delete(counts, t)
		}
	}
	terms := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if d := counts[y] - counts[x]; d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	var words []string
	for _, t := range terms[:min(len(terms), maxWords)] {
		words = append(words, surface[t])
	}
	return words
}

// programOf returns the program of a command, or the language or the name of a file.
func programOf(c *notes.Call, families []string) string {
	if len(families) == 0 {
		return ""
	}
	if c.Path != "" {
		if l := notes.Language(c.Path); l != "" {
			return l
		}
		return families[0]
	}
	program, _, _ := strings.Cut(families[0], " ")
	return program
}

// narrowed returns the change that replaces commands of one word by those subcommands of
// recent calls that the note mentions.
func (a *analysis) narrowed(n *notebook.Note, calls []int) []Change {
	have := a.noteTerms(n)
	c := Change{}
	changed := false
	for _, command := range n.Fields.AppliesWhen.Commands {
		all, mentioned := map[string]bool{}, map[string]bool{}
		for _, i := range calls {
			for _, f := range a.families[i] {
				rest, ok := strings.CutPrefix(f, command+" ")
				if !ok {
					continue
				}
				all[f] = true
				if t := a.analyzer.Terms(rest); len(t) > 0 && !slices.ContainsFunc(t, func(t string) bool { return !have[t] }) {
					mentioned[f] = true
				}
			}
		}
		if strings.Contains(command, " ") || len(mentioned) == 0 || 2*len(mentioned) > len(all) {
			c.Fields.AppliesWhen.Commands = append(c.Fields.AppliesWhen.Commands, command)
			continue
		}
		changed = true
		c.Fields.AppliesWhen.Commands = append(c.Fields.AppliesWhen.Commands, slices.Sorted(maps.Keys(mentioned))...)
	}
	if !changed {
		return nil
	}
	c.families = c.Fields.AppliesWhen.Commands
	return []Change{c}
}
