package index

import (
	_ "embed"
	"math/rand/v2"
	"strings"
	"unicode"
)

// A syntheticQuery is a query generated from a passage, which measures an index without
// judged queries.
type syntheticQuery struct {
	text    string
	passage uint32
}

// syntheticQueries generates up to n queries from the database's passages: headings and
// sentence fragments with dropped words. The result is deterministic. Whole passages
// would be too easy: a search calibrated with them misses its target recall on real
// queries.
func (d *Database) syntheticQueries(n int) ([]syntheticQuery, error) {
	// An arbitrary fixed seed makes builds reproducible.
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
			text = sentenceFragment(p.Text, rng)
		}
		if text = strings.TrimSpace(text); text != "" {
			queries = append(queries, syntheticQuery{text, number})
		}
	}
	return queries, nil
}

// sentenceFragment selects 6 to 12 consecutive words from text and drops a third of
// them, because users shorten and rephrase.
func sentenceFragment(text string, rng *rand.Rand) string {
	words := strings.FieldsFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' })
	length := min(len(words), 6+rng.IntN(7))
	if length == 0 {
		return ""
	}
	start := rng.IntN(len(words) - length + 1)
	var fragment []string
	for _, w := range words[start : start+length] {
		if rng.IntN(3) > 0 {
			fragment = append(fragment, w)
		}
	}
	return strings.Join(fragment, " ")
}

// outOfDomainText contains general queries, one per line: "topic|query", or only the
// query if no technical documentation answers it.
//
//go:embed out_of_domain.txt
var outOfDomainText string

// OutOfDomainQueries returns queries that the database does not answer: those of
// outOfDomainText without the topics that the database covers.
func (d *Database) OutOfDomainQueries() ([]string, error) {
	var queries []string
	for line := range strings.Lines(outOfDomainText) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		topic, query, found := strings.Cut(line, "|")
		if !found {
			queries = append(queries, line)
			continue
		}
		covered, err := d.coversTopic(topic)
		if err != nil {
			return nil, err
		}
		if !covered {
			queries = append(queries, query)
		}
	}
	return queries, nil
}

// coversTopic reports whether more than 2% of the passages contain the word.
func (d *Database) coversTopic(word string) (bool, error) {
	n, err := d.lexical.Frequency(word)
	return n >= max(3, d.table.Passages()/50), err
}
