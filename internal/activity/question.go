package activity

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/adapt"
)

// A Question is a web search that nothing answered, with its repetitions.
type Question struct {
	Text      string   // its latest form
	Searches  int      // that differ in case and spaces only
	Databases []string // that matched in vain
	Why       string   // why the command may help; mostly empty
	Command   string   // that adds the documentation or a keyword; "" if nothing suggests one
}

// Frequent returns the most frequent questions that nothing answered, at most limit: web
// searches that match no database, that a database does not answer, or that an agent
// retried. It needs a summary that has been advised (see Advise).
func (s *Summary) Frequent(limit int) []Question {
	byText := map[string]*Question{}
	add := func(text string, databases []string) {
		text = strings.Join(strings.Fields(text), " ")
		if text == "" {
			return
		}
		key := strings.ToLower(text)
		q := byText[key]
		if q == nil {
			q = &Question{}
			byText[key] = q
		}
		q.Text = text
		q.Searches++
		for _, name := range databases {
			if !slices.Contains(q.Databases, name) {
				q.Databases = append(q.Databases, name)
			}
		}
	}
	for _, text := range s.unmatchedQueries {
		add(text, nil)
	}
	for _, search := range s.follower.Searches() {
		if !search.Denied || search.Reaction == adapt.Retried {
			add(search.Query, search.Databases)
		}
	}
	list := slices.SortedFunc(maps.Values(byText), func(a, b *Question) int {
		return cmp.Or(cmp.Compare(b.Searches, a.Searches), cmp.Compare(a.Text, b.Text))
	})
	var most []Question
	for _, q := range list[:min(len(list), limit)] {
		s.suggest(q)
		most = append(most, *q)
	}
	return most
}

// suggest sets the command for a question: that of the group that it is in.
func (s *Summary) suggest(q *Question) {
	in := func(groups []QueryGroup) *QueryGroup {
		i := slices.IndexFunc(groups, func(g QueryGroup) bool {
			return slices.ContainsFunc(g.Queries, func(text string) bool { return strings.EqualFold(text, q.Text) })
		})
		if i < 0 {
			return nil
		}
		return &groups[i]
	}
	for _, list := range s.Unanswered {
		if !slices.Contains(q.Databases, list.Database) {
			continue
		}
		if g := in(list.Groups); g != nil {
			q.Command = g.Setup
			return
		}
	}
	g := in(s.Unmatched)
	if len(q.Databases) > 0 || g == nil {
		return
	}
	q.Command = g.Setup
	if p := s.KeywordFor(g.Word); p != nil {
		q.Why, q.Command = p.Reason, p.Command
	}
}
