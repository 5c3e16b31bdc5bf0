package leann

import (
	"encoding/json"
	"fmt"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

const maxMeta = 16 << 20

// A Meta is what docsearch reads of a meta file. LEANN's versions disagree on
// the rest, and some keep an API key there, which is nothing to carry around.
type Meta struct {
	Version        string // "1.0", "1.1"; "" if it does not say
	Backend        string // "hnsw", "diskann", "ivf", ...
	EmbeddingModel string
	EmbeddingMode  string // "sentence-transformers", "ollama", "openai", ...
	Dimensions     int
	Sources        []PassageSource
	// Origin is what docsearch made the index from, if docsearch made it.
	Origin *Origin
}

// A PassageSource names one passages file, in the ways that LEANN does.
type PassageSource struct{ Path, Relative string }

// An Origin is the source of an index that docsearch made.
type Origin struct {
	Kind     string `json:"kind"`
	Location string `json:"location"`
	Seal     string `json:"seal,omitempty"` // of the two (see package provenance)
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

// EmbeddingOptions is what the meta file says of how to ask the model, nil if
// nothing. There may be an API key in it, in clear: it is for asking the
// model, and for nothing else.
func (x *Index) EmbeddingOptions() (json.RawMessage, error) {
	base, ok := x.basePath()
	if !ok {
		return nil, nil
	}
	data, err := atomicfile.Read(base+leannMeta, maxMeta)
	if err != nil {
		return nil, err
	}
	var meta struct {
		Options json.RawMessage `json:"embedding_options"`
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, fmt.Errorf("invalid LEANN meta file %s: %w", base+leannMeta, err)
	}
	return meta.Options, nil
}

// parseMeta reads field by field: one of a wrong type is as good as absent,
// since what docsearch needs, the passages, is found without any of them.
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
		m.Sources = append(m.Sources, PassageSource{Path: stringOrEmpty(s["path"]), Relative: stringOrEmpty(s["path_relative"])})
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
