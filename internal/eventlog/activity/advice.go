package activity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/recipes"
)

// Reactions counts the denials of a database by what the agent did next.
type Reactions struct {
	Denied   int `json:"denied"`
	Retried  int `json:"retried"`  // sent the same call again, which ran
	Reworded int `json:"reworded"` // sent the web another search of the same databases, which ran
	Searched int `json:"searched"` // searched or read the local documentation further
	Neither  int `json:"neither"`
}

func (r *Reactions) add(to adapt.Reaction) {
	r.Denied++
	switch to {
	case adapt.Retried:
		r.Retried++
	case adapt.Reworded:
		r.Reworded++
	case adapt.Searched:
		r.Searched++
	default:
		r.Neither++
	}
}

// An UnansweredList has the web searches that match a database, but that it did not
// answer: they ran at once or, after a denial, as a retry.
type UnansweredList struct {
	Database string       `json:"database"`
	Groups   []QueryGroup `json:"groups"`
	Alone    int          `json:"alone"` // without a word in common with another
}

// A Proposal is a change that the log suggests.
type Proposal struct {
	Kind     string `json:"kind"` // one of the constants below
	Database string `json:"database,omitempty"`
	Word     string `json:"word,omitempty"` // that the searches have in common
	Reason   string `json:"reason"`
	Command  string `json:"command,omitempty"` // none to let a threshold adapt, which the config does
}

// Kinds of proposals.
const (
	AdaptThreshold   = "threshold"
	AddKeyword       = "keyword"
	AddDocumentation = "documentation"
)

const (
	// minDenials is the number of denials from which a threshold is proposed.
	minDenials = 10
	// queriesTried is the number of queries of a group that each database is asked.
	queriesTried = 5
	// groupsTried is the number of groups for which a keyword is proposed.
	groupsTried = 10
	// minAnswered is the number of them that a database must answer.
	minAnswered = 2
)

// countReactions counts the reactions to the denials.
func (s *Summary) countReactions() {
	for _, search := range s.follower.Searches() {
		if !search.Denied || search.Reaction == "" {
			continue
		}
		for _, name := range search.Databases {
			if s.Reactions[name] == nil {
				s.Reactions[name] = &Reactions{}
			}
			s.Reactions[name].add(search.Reaction)
		}
	}
}

// Advise groups the unanswered searches and adds the proposals for the databases of a
// config.
func (s *Summary) Advise(c *config.Config) error {
	if err := s.groupUnanswered(c); err != nil {
		return err
	}
	s.proposeThresholds(c)
	s.proposeKeywords(c)
	for _, list := range s.Unanswered {
		for i := range list.Groups {
			g := &list.Groups[i]
			s.Proposals = append(s.Proposals,
				Proposal{AddDocumentation, list.Database, g.Word,
					fmt.Sprintf("%s did not answer %s", list.Database, Searches(g.Searches)), g.Setup})
		}
	}
	for i := range s.Unmatched {
		if g := &s.Unmatched[i]; s.KeywordFor(g.Word) == nil {
			s.Proposals = append(s.Proposals,
				Proposal{AddDocumentation, "", g.Word, "no database matches " + Searches(g.Searches), g.Setup})
		}
	}
	return nil
}

// groupUnanswered groups the unanswered searches of each database.
func (s *Summary) groupUnanswered(c *config.Config) error {
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
				g.Setup = "docsearch why " + humanize.Argument(g.Queries[0])
			}
		}
		s.Unanswered = append(s.Unanswered, UnansweredList{name, slices.Concat([]QueryGroup{}, groups), alone})
	}
	slices.SortStableFunc(s.Unanswered,
		func(a, b UnansweredList) int { return cmp.Compare(len(queries[b.Database]), len(queries[a.Database])) })
	return nil
}

func databaseNamed(c *config.Config, name string) *config.Database {
	i := slices.IndexFunc(c.Databases, func(db config.Database) bool { return db.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Databases[i]
}

// proposeThresholds proposes to let the threshold adapt for each database whose denials
// agents often retry.
func (s *Summary) proposeThresholds(c *config.Config) {
	if c.Hook.Adapt {
		return
	}
	for _, db := range AnsweringDatabases(c) {
		e := adapt.EvidenceOf(db, s.follower.Searches())
		if e.Denials < minDenials || e.Best(db.Base) < db.Base+adapt.Step/2 {
			continue
		}
		s.Proposals = append(s.Proposals, Proposal{
			Kind: AdaptThreshold, Database: db.Name,
			Reason: fmt.Sprintf("agents retried %d of %s", e.Retries, humanize.Count(e.Denials, "denial")),
		})
	}
}

// proposeKeywords proposes the common word of unmatched searches as a keyword of the
// database that answers most of them.
func (s *Summary) proposeKeywords(c *config.Config) {
	for _, g := range s.Unmatched[:min(len(s.Unmatched), groupsTried)] {
		queries := g.Queries[:min(len(g.Queries), queriesTried)]
		var best *config.Database
		most := min(minAnswered, len(queries)) - 1
		for _, indexed := range AnsweringDatabases(c) {
			db := databaseNamed(c, indexed.Name)
			if n := answeredWith(db, g.Word, queries); n > most {
				best, most = db, n
			}
		}
		if best == nil {
			continue
		}
		keywords := strings.Join(append(slices.Clone(best.Keywords), g.Word), ",")
		s.Proposals = append(s.Proposals, Proposal{
			Kind: AddKeyword, Database: best.Name, Word: g.Word,
			Reason: fmt.Sprintf("%s answers %d of %d searches", best.Name, most, len(queries)),
			Command: fmt.Sprintf("docsearch setup %s %s --keywords %s --yes --no-install",
				humanize.Argument(best.Keyword()), humanize.Argument(hook.Folder(best.Path)),
				humanize.Argument(keywords)),
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
		found, err := x.Search(quicksearch.Query{Text: q, Names: append([]string{db.Name, keyword}, db.Keywords...),
			Version: db.Version, Limit: 1, Threshold: db.Threshold})
		if err == nil && found.Confident {
			n++
		}
	}
	return n
}

// KeywordFor returns the Proposal to add a word as a keyword, or nil.
func (s *Summary) KeywordFor(word string) *Proposal {
	return s.proposalOf(func(p *Proposal) bool { return p.Kind == AddKeyword && p.Word == word })
}

// ThresholdFor returns the Proposal to let the threshold of a database adapt, or nil.
func (s *Summary) ThresholdFor(database string) *Proposal {
	return s.proposalOf(func(p *Proposal) bool { return p.Kind == AdaptThreshold && p.Database == database })
}

func (s *Summary) proposalOf(wanted func(*Proposal) bool) *Proposal {
	for i := range s.Proposals {
		if wanted(&s.Proposals[i]) {
			return &s.Proposals[i]
		}
	}
	return nil
}

// Searches formats a number of web searches.
func Searches(n int) string {
	if n == 1 {
		return "1 web search"
	}
	return humanize.Thousands(n) + " web searches"
}

// AnsweringDatabases returns the databases of a config with the thresholds of their
// builds. It omits those that have no index or are not searched for an answer.
func AnsweringDatabases(c *config.Config) []adapt.Database {
	var list []adapt.Database
	for _, db := range c.Databases {
		info, err := index.Inspect(db.Path)
		if err == nil && (db.Mode == "" || db.Mode == config.ModeAnswer) {
			list = append(list, adapt.Database{Name: db.Name, Path: db.Path,
				Base: quicksearch.Usable(info.Confidence).Threshold})
		}
	}
	return list
}
