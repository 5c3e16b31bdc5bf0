package index

import (
	_ "embed"
	"math/rand/v2"
	"strings"
	"unicode"
)

// A syntheticQuery is a query made from a passage, to measure the index with
// where nobody has judged real ones.
type syntheticQuery struct {
	text    string
	passage uint32
}

// pseudoQueries makes up to n queries from the database's own passages, the
// same ones each time: headings, and pieces of sentences with words dropped.
// Whole passages would be too easy: a search calibrated on them falls short
// of its recall on real queries.
func (d *Database) pseudoQueries(n int) ([]syntheticQuery, error) {
	// Any fixed seed would do; what matters is that builds are reproducible.
	rng := rand.New(rand.NewPCG(0x646f6373, 0x65617263))
	total := d.table.Passages()
	queries := make([]syntheticQuery, 0, n)
	for i := range min(n, total) {
		number := uint32(i * total / min(n, total))
		p, err := d.table.Passage(number)
		if err != nil {
			return nil, err
		}
		text := ""
		if len(p.Headings) > 0 && i%2 == 0 {
			text = p.Headings[len(p.Headings)-1]
			if len(strings.Fields(text)) < 3 {
				text = p.Title + " " + text
			}
		} else {
			text = piece(p.Text, rng)
		}
		if text = strings.TrimSpace(text); text != "" {
			queries = append(queries, syntheticQuery{text, number})
		}
	}
	return queries, nil
}

// piece takes 6 to 12 words in a row from text and drops a third of them, as
// people leave out words and put them otherwise.
func piece(text string, rng *rand.Rand) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' })
	length := min(len(words), 6+rng.IntN(7))
	if length == 0 {
		return ""
	}
	start := rng.IntN(len(words) - length + 1)
	var kept []string
	for _, w := range words[start : start+length] {
		if rng.IntN(3) > 0 {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// foreignText holds questions of every kind, a line each: "topic|question",
// or the question alone where no technical documentation answers it.
//
//go:embed out_of_domain.txt
var foreignText string

// OutOfDomainQueries are questions that the database does not answer: all of
// foreignText but those of a topic that it speaks of.
func (d *Database) OutOfDomainQueries() ([]string, error) {
	var queries []string
	for line := range strings.Lines(foreignText) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		topic, question, found := strings.Cut(line, "|")
		if !found {
			queries = append(queries, line)
			continue
		}
		spoken, err := d.speaksOf(topic)
		if err != nil {
			return nil, err
		}
		if !spoken {
			queries = append(queries, question)
		}
	}
	return queries, nil
}

// speaksOf reports whether more than one passage in fifty has the word.
func (d *Database) speaksOf(word string) (bool, error) {
	n, err := d.lexical.Frequency(word)
	return n >= max(3, d.table.Passages()/50), err
}
