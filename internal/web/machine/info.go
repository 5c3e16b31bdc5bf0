package machine

import (
	"cmp"
	"fmt"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/ingest"
)

// A Threshold is the confidence threshold of a database that adapts. It is JSON output.
type Threshold struct {
	Build     float64 `json:"build"`     // threshold of the build
	Threshold float64 `json:"threshold"` // that the hook uses
	Denials   int     `json:"denials"`   // evidence
	Retried   int     `json:"retried"`
}

// Origin describes the origin of a threshold, with its evidence.
func (t *Threshold) Origin() string {
	if t.Denials == 0 {
		return fromBuild
	}
	return fmt.Sprintf("adapted to %s, %s retried", humanize.Count(t.Denials, "denial"), humanize.Thousands(t.Retried))
}

// fromBuild is the origin of a threshold that has not adapted.
const fromBuild = "build"

// ThresholdOf returns the threshold of a configured database, or nil if its index cannot be
// read.
func ThresholdOf(db *config.Database, all *adapt.Thresholds) *Threshold {
	info, err := index.Inspect(db.Path)
	if err != nil {
		return nil
	}
	t := &Threshold{Build: quicksearch.Usable(info.Confidence).Threshold}
	t.Threshold = max(t.Build, db.Threshold)
	if e := all.Entry(db.Name, db.Path); e != nil {
		t.Denials, t.Retried = e.Denials, e.Retries
	}
	return t
}

// SourceOf describes the source of a database.
func SourceOf(info index.Info) string {
	kinds := map[string]string{
		ingest.KindFolder: "folder", ingest.KindSite: "site", ingest.KindArchive: "archive", ingest.KindGit: "git repository",
		ingest.KindDocset: "docset", cluster.KindSource: "Weaviate cluster", leann.KindIndex: "LEANN index",
	}
	return cmp.Or(kinds[info.Source.Kind], "passages") + " " + info.Source.Location
}
