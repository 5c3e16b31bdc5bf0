package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/adapt"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/recipes"
)

// A reactions counts the denials of a database by what the agent did next.
type reactions struct {
	Denied   int `json:"denied"`
	Retried  int `json:"retried"`  // sent the same call again, which ran
	Searched int `json:"searched"` // searched or read the local documentation further
	Neither  int `json:"neither"`
}

func (r *reactions) add(to adapt.Reaction) {
	r.Denied++
	switch to {
	case adapt.Retried:
		r.Retried++
	case adapt.Searched:
		r.Searched++
	default:
		r.Neither++
	}
}

// An unansweredList has the web searches that match a database, but that it did not
// answer: they ran at once or, after a denial, as a retry.
type unansweredList struct {
	Database string       `json:"database"`
	Groups   []queryGroup `json:"groups"`
	Alone    int          `json:"alone"` // without a word in common with another
}

// A proposal is a change that the log suggests.
type proposal struct {
	Kind     string `json:"kind"` // one of the constants below
	Database string `json:"database,omitempty"`
	Word     string `json:"word,omitempty"` // that the searches have in common
	Reason   string `json:"reason"`
	Command  string `json:"command"`
}

// Kinds of proposals.
const (
	raiseThreshold   = "threshold"
	addKeyword       = "keyword"
	addDocumentation = "documentation"
)

const (
	// minDenials is the number of denials from which a threshold is proposed.
	minDenials = 10
	// queriesTried is the number of queries of a group that each database is asked.
	queriesTried = 5
	// minAnswered is the number of them that a database must answer.
	minAnswered = 2
)

// countReactions counts the reactions to the denials.
func (s *stats) countReactions() {
	for _, search := range s.follower.Searches() {
		if !search.Denied || search.Reaction == "" {
			continue
		}
		for _, name := range search.Databases {
			if s.Reactions[name] == nil {
				s.Reactions[name] = &reactions{}
			}
			s.Reactions[name].add(search.Reaction)
		}
	}
}

// advise groups the unanswered searches and adds the proposals for the databases of a
// config.
func (s *stats) advise(c *config.Config) error {
	if err := s.groupUnanswered(c); err != nil {
		return err
	}
	s.proposeThresholds(c)
	s.proposeKeywords(c)
	for _, list := range s.Unanswered {
		for i := range list.Groups {
			g := &list.Groups[i]
			s.Proposals = append(s.Proposals, proposal{addDocumentation, list.Database, g.Word, fmt.Sprintf("%s did not answer %s", list.Database, searches(g.Searches)), g.Setup})
		}
	}
	for i := range s.Unmatched {
		if g := &s.Unmatched[i]; s.keywordFor(g.Word) == nil {
			s.Proposals = append(s.Proposals, proposal{addDocumentation, "", g.Word, "no database matches " + searches(g.Searches), g.Setup})
		}
	}
	return nil
}

// groupUnanswered groups the unanswered searches of each database.
func (s *stats) groupUnanswered(c *config.Config) error {
	queries := map[string][]string{}
	for _, search := range s.follower.Searches() {
		if search.Query == "" || search.Denied && search.Reaction != adapt.Retried {
			continue
		}
		for _, name := range search.Databases {
			queries[name] = append(queries[name], strings.Join(strings.Fields(search.Query), " "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(queries)) {
		names := []string{name}
		if db := databaseNamed(c, name); db != nil {
			names = append(names, db.Keywords...)
		}
		groups, alone, err := groupQueries(queries[name], names...)
		if err != nil {
			return err
		}
		for i := range groups {
			g := &groups[i]
			if _, err := recipes.Find(g.Word); err != nil {
				g.Setup = "docsearch why " + quoteArgument(g.Queries[0])
			}
		}
		s.Unanswered = append(s.Unanswered, unansweredList{name, slices.Concat([]queryGroup{}, groups), alone})
	}
	slices.SortStableFunc(s.Unanswered, func(a, b unansweredList) int { return cmp.Compare(len(queries[b.Database]), len(queries[a.Database])) })
	return nil
}

func databaseNamed(c *config.Config, name string) *config.Database {
	i := slices.IndexFunc(c.Databases, func(db config.Database) bool { return db.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Databases[i]
}

// proposeThresholds proposes a higher threshold for each database whose denials agents
// often retry, unless the hook adapts it.
func (s *stats) proposeThresholds(c *config.Config) {
	if c.Hook.Adapt {
		return
	}
	for _, db := range indexedDatabases(c) {
		e := adapt.EvidenceOf(db, s.follower.Searches())
		best := e.Best(db.Base)
		if e.Denials < minDenials || best < max(db.Base, databaseNamed(c, db.Name).Threshold)+adapt.Step/2 {
			continue
		}
		s.Proposals = append(s.Proposals, proposal{
			Kind: raiseThreshold, Database: db.Name,
			Reason:  fmt.Sprintf("agents retried %d of %s", e.Retries, count(e.Denials, "denial")),
			Command: fmt.Sprintf("docsearch index threshold %s --set %.2f", quoteArgument(db.Name), best),
		})
	}
}

// proposeKeywords proposes the common word of unmatched searches as a keyword of the
// database that answers most of them.
func (s *stats) proposeKeywords(c *config.Config) {
	for _, g := range s.Unmatched[:min(len(s.Unmatched), groupsShown)] {
		queries := g.Queries[:min(len(g.Queries), queriesTried)]
		var best *config.Database
		most := min(minAnswered, len(queries)) - 1
		for _, indexed := range indexedDatabases(c) {
			db := databaseNamed(c, indexed.Name)
			if n := answeredWith(db, g.Word, queries); n > most {
				best, most = db, n
			}
		}
		if best == nil {
			continue
		}
		keywords := strings.Join(append(slices.Clone(best.Keywords), g.Word), ",")
		s.Proposals = append(s.Proposals, proposal{
			Kind: addKeyword, Database: best.Name, Word: g.Word,
			Reason:  fmt.Sprintf("%s answers %d of %d searches", best.Name, most, len(queries)),
			Command: fmt.Sprintf("docsearch setup %s %s --keywords %s --yes --no-install", quoteArgument(best.Keyword()), quoteArgument(hook.Folder(best.Path)), quoteArgument(keywords)),
		})
	}
}

// answeredWith returns the number of queries that a database would answer if it had the
// keyword. A database that cannot be read answers none.
func answeredWith(db *config.Database, keyword string, queries []string) (n int) {
	x, err := quicksearch.Open(hook.Folder(db.Path))
	if err != nil {
		return 0
	}
	defer x.Close()
	for _, q := range queries {
		found, err := x.Search(quicksearch.Query{Text: q, Names: append([]string{db.Name, keyword}, db.Keywords...), Version: db.Version, Limit: 1, Threshold: db.Threshold})
		if err == nil && found.Confident {
			n++
		}
	}
	return n
}

// keywordFor returns the proposal to add a word as a keyword, or nil.
func (s *stats) keywordFor(word string) *proposal {
	return s.proposalOf(func(p *proposal) bool { return p.Kind == addKeyword && p.Word == word })
}

// thresholdFor returns the proposal to raise the threshold of a database, or nil.
func (s *stats) thresholdFor(database string) *proposal {
	return s.proposalOf(func(p *proposal) bool { return p.Kind == raiseThreshold && p.Database == database })
}

func (s *stats) proposalOf(wanted func(*proposal) bool) *proposal {
	for i := range s.Proposals {
		if wanted(&s.Proposals[i]) {
			return &s.Proposals[i]
		}
	}
	return nil
}

// sortedReactions returns the names of the databases with denials, most denials first.
func (s *stats) sortedReactions() []string {
	return slices.SortedFunc(maps.Keys(s.Reactions), func(x, y string) int {
		return cmp.Or(cmp.Compare(s.Reactions[y].Denied, s.Reactions[x].Denied), cmp.Compare(x, y))
	})
}

// printReactions prints the reactions to the denials of each database, and the thresholds
// that they suggest.
func (s *stats) printReactions(b *strings.Builder, c palette) {
	if len(s.Reactions) == 0 {
		return
	}
	const title = "after a denial"
	names := s.sortedReactions()
	widest := len(title)
	for _, name := range names {
		widest = max(widest, len([]rune(truncate(printable(name), nameWidth))))
	}
	fmt.Fprintf(b, "\n%s%-*s  denied  retried  searched  neither%s\n", c.title, widest, title, c.end)
	for _, name := range names {
		r := s.Reactions[name]
		fmt.Fprintf(b, "%-*s  %6s  %7s  %8s  %7s\n", widest, truncate(printable(name), nameWidth), thousands(r.Denied), thousands(r.Retried), thousands(r.Searched), thousands(r.Neither))
	}
	for _, name := range names {
		if p := s.thresholdFor(name); p != nil {
			fmt.Fprintf(b, "%s%s: %s; to raise the threshold:\n%s%s%s\n", indent, printable(name), p.Reason, indent, indent, printable(p.Command))
		}
	}
}

// printUnanswered prints the groups of unanswered searches of each database.
func (s *stats) printUnanswered(b *strings.Builder, c palette, width int) {
	for _, list := range s.Unanswered {
		fmt.Fprintf(b, "\n%sweb searches that %s does not answer%s\n", c.title, printable(list.Database), c.end)
		printGroups(b, c, list.Groups, list.Alone, width, func(*queryGroup) *proposal { return nil })
	}
}

// printGroups prints groups of queries, each with its command or a better one.
func printGroups(b *strings.Builder, c palette, groups []queryGroup, alone, width int, better func(*queryGroup) *proposal) {
	for i := range groups[:min(len(groups), groupsShown)] {
		g := &groups[i]
		fmt.Fprintf(b, "%s%4s  %s%s%s\n", indent, thousands(g.Searches), c.match, printable(g.Word), c.end)
		for _, q := range g.Queries[:min(len(g.Queries), queriesShown)] {
			fmt.Fprintf(b, "%s      %s%s%s\n", indent, c.dim, truncate(printable(q), width-len(indent)-6), c.end)
		}
		command := g.Setup
		if p := better(g); p != nil {
			command = p.Command
			fmt.Fprintf(b, "%s      %s; to add the keyword:\n", indent, printable(p.Reason))
		}
		fmt.Fprintf(b, "%s      %s\n", indent, printable(command))
	}
	if n := len(groups) - groupsShown; n > 0 {
		fmt.Fprintf(b, "%s%s more; to list all, pass --json\n", indent, thousands(n))
	}
	if alone > 0 {
		fmt.Fprintf(b, "%s%4s  without a common word\n", indent, thousands(alone))
	}
}
