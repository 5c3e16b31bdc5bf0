package leann

import (
	"encoding/json"
	"fmt"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

const maxMeta = 16 << 20

// A Meta has the fields of a meta file that docsearch uses. The others vary
// between LEANN versions, and one may be an API key, which should not stay in
// memory.
type Meta struct {
	Version        string // "1.0", "1.1", or "" if missing
	Backend        string // "hnsw", "diskann", "ivf", ...
	EmbeddingModel string
	EmbeddingMode  string // "sentence-transformers", "ollama", "openai", ...
	Dimensions     int
	Sources        []PassageSource
	// Origin is the source of an index that docsearch published, else nil.
	Origin *Origin
}

// A PassageSource has the paths of one passages file.
type PassageSource struct{ Path, Relative string }

// An Origin is the source of an index that docsearch published.
type Origin struct {
	Kind     string `json:"kind"`
	Location string `json:"location"`
	Seal     string `json:"seal,omitempty"` // of Kind and Location (see package provenance)
}

func readMeta(path string) (Meta, error) {
	data, err := atomicfile.Read(path, maxMeta)
	if err != nil {
		return Meta{}, err
	}
	m, err := parseMeta(data)
	if err != nil {
		return Meta{}, fmt.Errorf("invalid LEANN meta file %s: %w", path, err)
	}
	return m, nil
}

// EmbeddingOptions returns the meta file's options of the embedding model, or
// nil. They may contain an API key in clear text; use it only for requests to the
// model.
func (x *Index) EmbeddingOptions() (json.RawMessage, error) {
	if x.meta == "" {
		return nil, nil
	}
	data, err := atomicfile.Read(x.meta, maxMeta)
	if err != nil {
		return nil, err
	}
	var meta struct {
		Options json.RawMessage `json:"embedding_options"`
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, fmt.Errorf("invalid LEANN meta file %s: %w", x.meta, err)
	}
	return meta.Options, nil
}

// parseMeta parses each field separately. A field of the wrong type counts as
// missing, because docsearch can find the passages without it.
func parseMeta(data []byte) (Meta, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return Meta{}, err
	}
	if raw == nil {
		return Meta{}, fmt.Errorf("it contains null")
	}
	m := Meta{
		Version:        stringOrEmpty(raw["version"]),
		Backend:        stringOrEmpty(raw["backend_name"]),
		EmbeddingModel: stringOrEmpty(raw["embedding_model"]),
		EmbeddingMode:  stringOrEmpty(raw["embedding_mode"]),
	}
	if json.Unmarshal(raw["dimensions"], &m.Dimensions) != nil {
		m.Dimensions = 0
	}
	var sources []map[string]json.RawMessage
	json.Unmarshal(raw["passage_sources"], &sources)
	for _, s := range sources {
		m.Sources = append(m.Sources,
			PassageSource{Path: stringOrEmpty(s["path"]), Relative: stringOrEmpty(s["path_relative"])})
	}
	if origin := new(Origin); json.Unmarshal(raw["docsearch"], origin) == nil && origin.Location != "" {
		m.Origin = origin
	}
	return m, nil
}

func stringOrEmpty(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}
