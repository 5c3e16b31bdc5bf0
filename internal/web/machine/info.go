package machine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
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

// An Info is the JSON form of index.Info.
type Info struct {
	Name      string               `json:"name"`
	Path      string               `json:"path,omitempty"`
	Server    string               `json:"server,omitempty"`  // URL of the server or cluster that holds it, instead of the path
	Project   string               `json:"project,omitempty"` // folder of the project that it belongs to
	Ignored   string               `json:"ignored,omitempty"` // who makes it not answer in the working directory
	State     string               `json:"state"`
	Why       string               `json:"why,omitempty"`
	Source    *generation.Source   `json:"source,omitempty"`
	Built     *time.Time           `json:"built,omitempty"`
	Checked   *time.Time           `json:"checked,omitempty"` // last check that found the source unchanged
	Pushed    *time.Time           `json:"pushed,omitempty"`  // to a cluster
	Version   string               `json:"version,omitempty"` // documented version, of a database on another machine
	Tool      string               `json:"tool,omitempty"`
	Passages  int                  `json:"passages"`
	Documents int                  `json:"documents"`
	TextBytes int64                `json:"text_bytes"`
	Bytes     int64                `json:"index_bytes"`
	Edition   *generation.Edition  `json:"edition,omitempty"`  // documented version
	Language  string               `json:"language,omitempty"` // of most passages
	Embedder  *generation.Embedder `json:"embedder,omitempty"`
	Recall    *generation.Recall   `json:"recall,omitempty"`
	Provided  *generation.Provided `json:"provided,omitempty"`
	Skipped   []generation.Skipped `json:"skipped,omitempty"`
	Threshold *Threshold           `json:"threshold,omitempty"` // if it adapts
}

func NewInfo(name, state, why string, info index.Info) Info {
	j := Info{Name: name, Path: info.Dir, State: state, Why: why}
	if info.Generation == "" {
		return j
	}
	if info.Checked.After(info.Created) {
		j.Checked = &info.Checked
	}
	j.Source, j.Built, j.Tool = &info.Source, &info.Created, info.Tool
	j.Passages, j.Documents, j.TextBytes, j.Bytes = info.Passages, info.Documents, info.TextBytes, info.Bytes
	j.Edition, j.Language, j.Embedder, j.Recall, j.Provided, j.Skipped = info.Edition, info.Language, info.Embedder, info.Recall, info.Provided, info.Skipped
	return j
}
