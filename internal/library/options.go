package library

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/provenance"
)

// Options are the build options that later builds of the same database
// repeat unless the command line overrides them. The manifest stores them.
type Options struct {
	Language   string `json:"language,omitempty"`
	TrustPaths bool   `json:"trust_paths,omitempty"`
	Embedder   string `json:"embedder,omitempty"` // "PROVIDER:MODEL"; "": from the config
	// Publisher is the public key of the publisher whose pack the database came as.
	Publisher string `json:"publisher,omitempty"`
	folder.Options
	Site    ingest.SiteOptions `json:"site,omitzero"`
	Cluster Cluster            `json:"cluster,omitzero"`  // from which the database was pulled
	Package string             `json:"package,omitempty"` // package and version that the source contained, as "node:react@18.3.1"
}

// A Cluster is the cluster from which a database was pulled, as part of its build
// options.
type Cluster struct {
	Name        string   `json:"name"`
	URLs        []string `json:"urls"`
	KeyVariable string   `json:"api_key_env,omitempty"`
	PlainHTTP   bool     `json:"plain_http,omitempty"`
}

// Source returns the source for an update.
func (s Cluster) Source() (*cluster.Source, error) {
	client, err := cluster.NewClient(cluster.Options{URLs: s.URLs, KeyVariable: s.KeyVariable, PlainHTTP: s.PlainHTTP})
	if err != nil {
		return nil, err
	}
	return &cluster.Source{Client: client, Name: s.Name, Location: cluster.Location(client, s.Name)}, nil
}

// FindLEANN finds LEANN files, also outside of their folder if the options allow that.
func (o *Options) FindLEANN(path string) (*leann.Index, error) {
	if o.TrustPaths {
		return leann.FindTrusted(path)
	}
	return leann.Find(path)
}

// OptionsOf returns the options in the manifest of the database in dir.
// For a database of another user, it keeps only the language and the file
// filters.
func OptionsOf(m *generation.Manifest, dir string) Options {
	var options Options
	if json.Unmarshal(m.Options, &options) != nil {
		return Options{}
	}
	if !isSealed(provenance.Load(config.KeyPath(os.Getenv)), m) {
		reduced := Options{Language: options.Language}
		reduced.Include, reduced.Exclude = options.Include, options.Exclude
		return reduced
	}
	// The seal does not cover LEANN's meta file, which contains the passages path.
	// It must be the file that the user trusted.
	options.TrustPaths = options.TrustPaths &&
		(SamePath(m.Source.Location, dir) || SamePath(filepath.Dir(m.Source.Location), dir))
	return options
}
