package setup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/recipes"
)

// Question returns a web search that the database in folder dir should answer. It
// tries the headings and titles of the database, then the first words of its
// passages. sure is false if the database is not confident about any of them: the
// hook then lets such searches run. The search contains the keyword; names are
// all names of the database. If the setup knows an answered query, Question
// returns that.
func (s Suggestions) Question(ctx context.Context, dir, keyword string,
	names []string) (query string, sure bool, err error) {
	if len(s.Answered) > 0 {
		return s.Answered[0], true, nil
	}
	db, err := index.Open(dir)
	if err != nil {
		return "", false, err
	}
	defer db.Close()
	const maxTries = 400
	best, tried := -1.0, 0
	for _, h := range slices.Concat(s.Headings, s.Titles, s.Openings) {
		text, _, _ := strings.Cut(h, " / ") // the first of several sections in one passage
		text = strings.TrimLeft(text, "0123456789. ")
		if strings.ContainsAny(text, "()[]{}<>=,;$\\") {
			continue // code, not a question
		}
		if !hasWord(strings.ToLower(text), strings.ToLower(keyword)) {
			text = keyword + " " + text
		}
		if n := len(strings.Fields(text)); n < 3 || n > 8 {
			continue // too short for a question, or longer than people type
		}
		if tried++; tried > maxTries {
			break
		}
		r, err := db.Search(ctx, index.Query{Text: text, TopK: 1, Names: names})
		if err != nil {
			return "", false, err
		}
		if len(r.Hits) == 0 || r.Confidence <= best || sure && !r.Confident {
			continue
		}
		best, query, sure = r.Confidence, text, r.Confident
		// Stop at a query whose best result is its own source.
		if hit := &r.Hits[0]; sure && (hit.Title == h || slices.Contains(hit.Headings, h)) {
			break
		}
	}
	if query == "" {
		query = keyword + " documentation"
	}
	return query, sure, nil
}

// An Answer is a question with the best result of a database.
type Answer struct {
	recipes.Question
	IsConfident bool
	Found       string // the page of the best result
	IsItsPage   bool   // Found is the question's page, if the question names one
}

// Answers returns the answers of the database in folder dir to the questions.
func Answers(ctx context.Context, dir string, questions []recipes.Question, names []string) ([]Answer, error) {
	db, err := index.Open(dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var all []Answer
	for _, q := range questions {
		r, err := db.Search(ctx, index.Query{Text: q.Text, TopK: 1, Names: names})
		if err != nil {
			return nil, err
		}
		a := Answer{Question: q, IsConfident: r.Confident}
		if len(r.Hits) > 0 {
			hit := &r.Hits[0]
			a.Found = cmp.Or(hit.URL, hit.Path)
			a.IsItsPage = q.IsAnsweredBy(hit.Path) || q.IsAnsweredBy(hit.URL)
		}
		all = append(all, a)
	}
	return all, nil
}
