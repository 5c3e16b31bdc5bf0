// Package remote asks docsearch servers for databases that are not on this machine.
//
// A request is a POST with a JSON object, or a GET for the list of databases. The
// response is a JSON object, and gzip-compressed if the client accepts that:
//
//	GET  /v1/databases  Databases: the databases that the token may read
//	POST /v1/answer     AnswerRequest, Answers: what the hook needs for a decision
//	POST /v1/search     SearchRequest, Results: the hits of a search
//	POST /v1/read       ReadRequest, Readings: a document
//
// A passage is encoded as a line of a passages file (see package passage), with a path
// relative to its source. Unknown fields are ignored, so that newer and older programs
// understand each other; an incompatible change gets another path.
package remote

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/safetext"
)

// The paths of the requests.
const (
	DatabasesPath = "/v1/databases"
	AnswerPath    = "/v1/answer"
	SearchPath    = "/v1/search"
	ReadPath      = "/v1/read"
)

// Limits of a request.
const (
	MaxDatabases = 200
	MaxTopK      = 200
)

// A Database describes a database of a server.
type Database struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	URLs        []string `json:"urls,omitempty"`
	Version     string   `json:"version,omitempty"`
	Packages    []string `json:"packages,omitempty"` // documented packages, as "node:react"
	Pack        string   `json:"pack,omitempty"`     // location of the pack that it came as, if others can read it
	Passages    int      `json:"passages,omitempty"` // 0: unknown, as those of a cluster that does not answer
	Documents   int      `json:"documents,omitempty"`
}

// Databases is the response to DatabasesPath.
type Databases struct {
	Databases []Database `json:"databases"`
	Version   string     `json:"version,omitempty"` // of docsearch on the server
}

// An AnswerRequest asks databases for a search, or for a fetched page if URL is set.
type AnswerRequest struct {
	Databases []string     `json:"databases"`
	Used      UsedVersions `json:"used,omitempty"`
	Query     string       `json:"query,omitempty"`
	Limited   bool         `json:"limited,omitempty"` // the search is limited to sites
	URL       string       `json:"url,omitempty"`
	Prompt    string       `json:"prompt,omitempty"`
}

// Check returns an error if the request is empty, too long, or for too many databases.
func (q *AnswerRequest) Check() error {
	switch {
	case q.Query == "" && q.URL == "", len(q.Query)+len(q.Prompt)+len(q.URL) > lexical.MaxQuery:
		return fmt.Errorf("want a query or a url, of at most %d bytes", lexical.MaxQuery)
	case len(q.Databases) > MaxDatabases:
		return fmt.Errorf("want at most %d databases", MaxDatabases)
	}
	return nil
}

// UsedVersions are the versions of the documented software that the client's project uses,
// by the names of the databases.
type UsedVersions map[string]string

// maxVersion is the maximum length of a version in bytes.
const maxVersion = 100

// Of returns the version for a database, or "" if it is unknown or cannot be a version.
func (u UsedVersions) Of(database string) string {
	v := u[database]
	if len(v) > maxVersion || strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return v
}

// put records a known version.
func (u *UsedVersions) put(database, version string) {
	if version == "" {
		return
	}
	if *u == nil {
		*u = UsedVersions{}
	}
	(*u)[database] = version
}

// Answers is the response to AnswerPath. The keys are the names of the databases.
type Answers struct {
	Databases map[string]Answer `json:"databases"`
}

// An Answer is the answer of one database.
type Answer struct {
	Error      string    `json:"error,omitempty"` // reason why the database could not be searched
	Held       bool      `json:"held,omitempty"`  // the database contains the page
	Version    string    `json:"version,omitempty"`
	Confidence float64   `json:"confidence,omitempty"`
	Confident  bool      `json:"confident,omitempty"`
	Whole      bool      `json:"whole,omitempty"`
	Passages   []Passage `json:"passages,omitempty"`

	Weights []lexical.TermWeight `json:"weights,omitempty"` // see hook.Answer
}

// A SearchRequest asks databases for the hits of a query.
type SearchRequest struct {
	Databases []string     `json:"databases"`
	Used      UsedVersions `json:"used,omitempty"`
	Query     string       `json:"query"`
	Keywords  []string     `json:"keywords,omitempty"`
	TopK      int          `json:"top_k,omitempty"`
	Filter    string       `json:"filter,omitempty"`
}

// Results is the response to SearchPath.
type Results struct {
	Databases map[string]Result `json:"databases"`
}

// A Result is the result of one database.
type Result struct {
	Error      string   `json:"error,omitempty"`
	Confidence float64  `json:"confidence"`
	Confident  bool     `json:"confident,omitempty"`
	NamedPage  bool     `json:"named_page,omitempty"`
	Notes      []string `json:"notes,omitempty"`
	Hits       []Hit    `json:"hits"`
}

// A Hit is a passage with its score.
type Hit struct {
	Score   float64 `json:"score"`
	Passage Passage `json:"passage"`
}

// A ReadRequest asks databases for passages of a document.
type ReadRequest struct {
	Databases []string `json:"databases"`
	Name      string   `json:"name"` // passage id, URL, or path
	Neighbors int      `json:"neighbors,omitempty"`
	Whole     bool     `json:"whole,omitempty"`
}

// Readings is the response to ReadPath.
type Readings struct {
	Databases map[string]Reading `json:"databases"`
}

// A Reading contains passages of one document. If NotFound is set, the database does not
// contain it.
type Reading struct {
	Error    string    `json:"error,omitempty"`
	NotFound bool      `json:"not_found,omitempty"`
	Passages []Passage `json:"passages,omitempty"`
	First    int       `json:"first"`
	Total    int       `json:"total"`
	Wanted   int       `json:"wanted"`
	Mapped   bool      `json:"mapped,omitempty"`
}

// A Passage is a passage on its way between two programs.
type Passage passage.Passage

// MarshalJSON encodes the passage without the folder of its source on the server.
func (p Passage) MarshalJSON() ([]byte, error) {
	own := passage.Passage(p)
	if own.Root != "" && len(own.Path) > len(own.Root) {
		if relative := own.Relative(); relative != "" {
			own.Path, own.Root = relative, ""
		}
	}
	return own.AppendLine(nil), nil
}

// UnmarshalJSON decodes a passage.
func (p *Passage) UnmarshalJSON(data []byte) error {
	own, err := passage.Decode(data)
	own.Text, own.Title = safetext.Block(own.Text), safetext.Line(own.Title)
	own.ID, own.URL, own.Path = safetext.Identifier(own.ID), safetext.Identifier(own.URL), safetext.Identifier(own.Path)
	for i := range own.Headings {
		own.Headings[i] = safetext.Line(own.Headings[i])
	}
	*p = Passage(own)
	return err
}

// Passages converts passages for a response.
func Passages(list []passage.Passage) []Passage {
	converted := make([]Passage, len(list))
	for i, p := range list {
		converted[i] = Passage(p)
	}
	return converted
}

func passagesOf(list []Passage) []passage.Passage {
	converted := make([]passage.Passage, len(list))
	for i, p := range list {
		converted[i] = passage.Passage(p)
	}
	return converted
}

// NewResult converts a result for a response.
func NewResult(r index.Result) Result {
	converted := Result{Confidence: r.Confidence, Confident: r.Confident, NamedPage: r.NamedPage(), Notes: r.Notes,
		Hits: make([]Hit, len(r.Hits))}
	for i, h := range r.Hits {
		converted.Hits[i] = Hit{h.Score, Passage(h.Passage)}
	}
	return converted
}

// result converts a received result. Values that no server may send are corrected,
// because ranking relies on them.
func (r *Result) result() index.Result {
	converted := index.Result{Confidence: probability(r.Confidence), Confident: r.Confident}
	for _, n := range r.Notes[:min(len(r.Notes), maxNotes)] {
		converted.Notes = append(converted.Notes, reported(n))
	}
	converted.SetNamedPage(r.NamedPage)
	for _, h := range r.Hits {
		converted.Hits = append(converted.Hits, index.Hit{Passage: passage.Passage(h.Passage), Score: max(h.Score, 0)})
	}
	return converted
}

// maxNotes limits the notes of a server about its result, and maxReported the bytes of one.
const maxNotes, maxReported = 5, 300

// reported quotes a message of a server. Messages reach the model outside of fences.
func reported(text string) string {
	text = safetext.Line(text)
	if len(text) > maxReported {
		text = strings.ToValidUTF8(text[:maxReported], "") + "…"
	}
	return "the server reports " + safetext.JSON(text)
}

func probability(f float64) float64 { return min(max(f, 0), 1) }

// reading converts a received document, or returns false if its numbers are impossible.
func (r *Reading) reading() (index.Reading, bool) {
	ok := len(r.Passages) > 0 && r.First >= 0 && r.First <= r.Total-len(r.Passages) && -1 <= r.Wanted &&
		r.Wanted < len(r.Passages)
	return index.Reading{Passages: passagesOf(r.Passages), First: r.First, Total: r.Total, Wanted: r.Wanted,
		Mapped: r.Mapped}, ok
}

// decode decodes a response.
func decode[T any](data []byte) (response T, err error) {
	err = json.Unmarshal(data, &response)
	return response, err
}

// usable reports whether a database's description can be shown and matched.
func (d *Database) usable() bool {
	return d.Name != "" && len(d.Name) <= 200 && !strings.ContainsAny(d.Name, "\x00\r\n")
}
