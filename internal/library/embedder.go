package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/provider"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/usererror"
)

const (
	// An agent gets an answer without vector scores rather than a late one. A user
	// at a terminal can wait while a model loads.
	AgentTimeout    = 2 * time.Second
	terminalTimeout = time.Minute
	// fromLEANN selects the embedding model that a LEANN index names.
	fromLEANN = "leann"
)

// specOf returns the connection settings of a configured embedder.
func specOf(e config.Embedder) index.EmbedderSpec {
	return index.EmbedderSpec{
		Kind: e.Provider,
		Options: provider.Options{URL: e.URL, Model: e.Model, Dimensions: e.Dimensions,
			QueryTemplate: e.QueryPrompt, DocumentTemplate: e.DocumentPrompt, Batch: e.Batch},
		KeyEnv: e.KeyEnv,
		Weight: e.Weight,
	}
}

// SpecsOf returns the connection settings of configured embedders.
func SpecsOf(list []config.Embedder) []index.EmbedderSpec { return collect(list, specOf) }

// ConfiguredEmbedders returns the embedders of the config file. The file is
// read on first use, because most databases need no embedder. Other commands
// report its problems.
func ConfiguredEmbedders() *index.Embedders {
	return index.NewEmbedders(func() []index.EmbedderSpec {
		r, err := load.Load(config.Locate(os.Getenv))
		if err != nil {
			return nil
		}
		return SpecsOf(r.Config.Embedders)
	}, terminalTimeout)
}

// A chosenEmbedder is the embedder that a build uses in addition to the builtin
// one.
type chosenEmbedder struct {
	config.Embedder
	key           string         // API key of a LEANN index; otherwise Embedder says where it is
	Configured    bool           // listed in the config, so that searches can use it as well
	storedVectors *leann.Vectors // vectors of the LEANN index to reuse; nil: none
	opened        embed.Provider // set by open
}

// chooseEmbedder selects the embedder that a build uses in addition to the
// builtin one; nil for none. The command line has precedence, then the options
// of the last build, then the first embedder of the config. The options saved
// in a database are not sufficient to send its texts to a server: an embedder
// from there must also be in the config.
func (b *Builder) chooseEmbedder(p Plan) (*chosenEmbedder, error) {
	r, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return nil, err
	}
	configured := r.Config.Embedders
	requested := b.Set("embedder")
	switch name := p.Options.Embedder; {
	case name == config.ProviderBuiltin:
		return nil, nil
	case name == fromLEANN:
		return b.leannEmbedder(p, configured, requested)
	case name != "":
		if c := b.findEmbedder(configured, name); c != nil {
			return c, nil
		}
		if requested {
			return b.embedderFromFlags(name)
		}
		b.warnMissingEmbedder(name)
		return nil, nil
	case len(configured) > 0:
		return &chosenEmbedder{Embedder: configured[0], Configured: true}, nil
	}
	if g, err := generation.Current(p.Dir); err == nil && g.Provided != nil {
		b.warnMissingEmbedder(g.Provided.Name)
	}
	return nil, nil
}

// warnMissingEmbedder reports that the build omits vectors that the previous
// build had.
func (b *Builder) warnMissingEmbedder(name string) {
	b.Console.Say("docsearch: the index has no vectors of %s: the config has no such embedder", name)
}

// findEmbedder returns the configured embedder for a name, "PROVIDER:MODEL" or
// "PROVIDER". It returns nil if there is none or if the command line sets
// another address.
func (b *Builder) findEmbedder(configured []config.Embedder, name string) *chosenEmbedder {
	if b.URL != "" || b.KeyEnv != "" {
		return nil
	}
	kind, model, _ := strings.Cut(name, ":")
	i := slices.IndexFunc(configured, func(e config.Embedder) bool {
		return e.Provider == kind && (model == "" || e.Model == model)
	})
	if i < 0 {
		return nil
	}
	return &chosenEmbedder{Embedder: configured[i], Configured: true}
}

// embedderFromFlags returns the embedder that the flags describe.
func (b *Builder) embedderFromFlags(name string) (*chosenEmbedder, error) {
	kind, model, _ := strings.Cut(name, ":")
	e := config.Embedder{Provider: kind, Model: model, URL: b.URL, KeyEnv: b.KeyEnv}
	switch {
	case kind == "onnx": // a provider that earlier versions had
		return nil, usererror.WithHint(usererror.Invalidf("invalid --embedder %q: docsearch does not run ONNX models",
			name),
			"serve the model and pass --embedder openai:MODEL --embedder-url URL, or pass --embedder model2vec:FOLDER")
	case !e.Local() && kind != config.ProviderOllama && kind != config.ProviderOpenAI:
		return nil,
			usererror.Invalidf("invalid --embedder %q: want builtin, leann, or PROVIDER:MODEL with the provider ollama, openai or model2vec", name)
	case model == "":
		return nil,
			usererror.WithHint(usererror.Invalidf("--embedder %s needs a model: the config has no such embedder", name),
				"pass --embedder %s:MODEL", kind)
	case kind == config.ProviderOpenAI && b.URL == "":
		return nil, usererror.WithHint(usererror.Invalidf("--embedder %s needs a server URL", name),
			"pass --embedder-url, for example http://127.0.0.1:8080/v1")
	}
	return &chosenEmbedder{Embedder: e}, nil
}

// leannEmbedder returns the embedder that the LEANN index names, with its
// stored vectors. If only Python can run that model, or if this command line
// does not request it, leannEmbedder returns the configured embedder that
// serves the same model.
func (b *Builder) leannEmbedder(p Plan, configured []config.Embedder, requested bool) (*chosenEmbedder, error) {
	found, err := p.Options.FindLEANN(p.Dir)
	if err != nil {
		return nil, err
	}
	m := found.Meta
	if m.EmbeddingModel == "" || m.Origin != nil {
		return nil, fmt.Errorf("cannot use --embedder leann: %s has no LEANN embedding", found.Location)
	}
	var c *chosenEmbedder
	if i := slices.IndexFunc(configured, func(e config.Embedder) bool { return e.Model == m.EmbeddingModel }); i >= 0 {
		c = &chosenEmbedder{Embedder: configured[i], Configured: true}
	} else if !requested {
		b.warnMissingEmbedder(m.EmbeddingModel)
		return nil, nil
	} else if c, err = b.embedderFromLEANN(found); err != nil {
		return nil, err
	}
	c.storedVectors, err = found.OpenVectors()
	if err != nil && !errors.Is(err, leann.ErrNoVectors) {
		b.Console.Say("docsearch: cannot reuse the vectors of the LEANN index, embedding the passages again: %v", err)
	}
	return c, nil
}

// embedderFromLEANN returns the embedder that the meta file of the index
// describes.
func (b *Builder) embedderFromLEANN(found *leann.Index) (*chosenEmbedder, error) {
	options, err := found.EmbeddingOptions()
	if err != nil {
		return nil, err
	}
	mode := found.Meta.EmbeddingMode
	o, err := provider.FromLEANN(found.Meta.EmbeddingModel, mode, options, provider.Options{URL: b.URL})
	if err != nil {
		return nil, usererror.WithHint(err, "add an embedder with \"model\": %q to the config to use it instead",
			found.Meta.EmbeddingModel)
	}
	return &chosenEmbedder{key: o.Key, Embedder: config.Embedder{
		Provider: mode, Model: o.Model, URL: o.URL, KeyEnv: b.KeyEnv,
		QueryPrompt: o.QueryTemplate, DocumentPrompt: o.DocumentTemplate, Batch: o.Batch,
	}}, nil
}

// open opens the embedder. Vectors are cached in the cache folder, so that a
// failed build can resume. Static models are not cached, because they are
// faster than the cache.
func (c *chosenEmbedder) open(l config.Locations) (embed.Provider, error) {
	spec := specOf(c.Embedder)
	spec.Key = c.key
	var err error
	if c.opened, err = spec.Open(); err != nil || c.Provider == config.ProviderModel2Vec || l.Cache == "" {
		return c.opened, err
	}
	return provider.NewCache(c.opened, filepath.Join(l.Cache, "vectors"))
}

// close closes the files of the embedder. They are read-only.
func (c *chosenEmbedder) close() {
	if c.storedVectors != nil {
		c.storedVectors.Close()
	}
	if model, ok := c.opened.(io.Closer); ok {
		model.Close()
	}
}

// absoluteModel makes the folder in an embedder name absolute.
func absoluteModel(name string) string {
	kind, model, _ := strings.Cut(name, ":")
	if e := (config.Embedder{Provider: kind}); !e.Local() || model == "" {
		return name
	}
	if abs, err := filepath.Abs(model); err == nil {
		model = abs
	}
	return kind + ":" + model
}

// ConfigEntry returns the config entry with which searches use the embedder.
func (c *chosenEmbedder) ConfigEntry() (string, error) {
	e := c.Embedder
	if c.key != "" && e.KeyEnv == "" {
		e.KeyEnv = "EMBEDDER_API_KEY"
	}
	text, err := json.Marshal(e)
	return string(text), err
}
