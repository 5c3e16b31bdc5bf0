package notegaps

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// minSessions is the number of sessions in which a failure must occur to need a note: an
// agent that works on a problem repeats its failures within a session.
const minSessions = 2

// withoutNote finds the failures and corrections that no note is about.
func (a *analysis) withoutNote() {
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
		g := group{need: e.need, kind: a.kindOf(i)}
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
		a.report.Gaps = append(a.report.Gaps, Gap{Kind: NoNote, Cases: a.cases(calls)})
	}
}

// kindOf returns the kind of a call that its evidence is most likely about: the family with
// the most words of it.
func (a *analysis) kindOf(i int) string {
	best, most := "", -1
	said := a.termsOf(a.evidence[i].text)
	for _, family := range a.families[i] {
		common := 0
		for t := range a.termsOf(family) {
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

func (a *analysis) sessions(calls []int) int {
	set := map[string]bool{}
	for _, i := range calls {
		set[a.in.Calls[i].Session] = true
	}
	return len(set)
}

// compact returns a text on one line without repeated words, such as those of an error
// message whose prefixes were removed.
func compact(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	return strings.Join(slices.CompactFunc(words, strings.EqualFold), " ")
}
