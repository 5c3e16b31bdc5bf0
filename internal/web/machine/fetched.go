package machine

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/site"
	"github.com/docsearch/docsearch/internal/library"
)

// A Fetched is the JSON form of a download report.
type Fetched struct {
	Discovery site.Discovery       `json:"discovered_by"`
	Fetched   int                  `json:"fetched"` // new or changed
	Unchanged int                  `json:"unchanged"`
	Resumed   int                  `json:"resumed"` // downloaded before an interruption
	Removed   int                  `json:"removed"`
	Lost      int                  `json:"lost,omitempty"` // kept although the site no longer has them
	Bytes     int64                `json:"bytes"`
	Failed    []generation.Skipped `json:"failed"`
	Limits    []string             `json:"limits"`
}

// NewFetched returns nil if the plan's source is not a site.
func NewFetched(p library.Plan) *Fetched {
	s := p.Site()
	if s == nil {
		return nil
	}
	r := s.Report()
	j := &Fetched{
		Discovery: r.Discovery, Fetched: r.Fetched, Unchanged: r.Unchanged, Resumed: r.Resumed, Removed: len(r.Removed),
		Lost: r.Lost, Bytes: r.Bytes,
		Failed: []generation.Skipped{}, Limits: append([]string{}, r.Limits...),
	}
	for _, o := range r.Failed {
		j.Failed = append(j.Failed, generation.Skipped{Name: o.URL, Reason: o.Reason})
	}
	return j
}

// MirrorStats describes the downloaded pages in the database folder, or returns
// "" if there are none.
func MirrorStats(info index.Info) string {
	m, err := site.Open(filepath.Join(info.Dir, ingest.MirrorName))
	switch {
	case info.Source.Kind != ingest.KindSite || err != nil:
		return ""
	case m.Ended.IsZero():
		return humanize.Count(len(m.Pages()), "page") + ", incomplete"
	}
	return fmt.Sprintf("%s, found through %s; last checked %s (%s)", humanize.Count(len(m.Pages()), "page"),
		m.Discovery,
		m.Ended.Local().Format("2006-01-02 15:04"), humanize.Age(time.Since(m.Ended)))
}
