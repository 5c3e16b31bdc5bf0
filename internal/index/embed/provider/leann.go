package provider

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/docsearch/docsearch/internal/index/embed"
)

// FromLEANN returns the provider that a LEANN index's meta.json names by
// embedding_model, embedding_mode and embedding_options, the last of which may
// be empty. Modes that only Python can run are an error. What the options
// leave open, as a key or an address, comes from o.
func FromLEANN(model, mode string, options json.RawMessage, o Options) (embed.Provider, error) {
	var l struct {
		Host          string `json:"host"`
		BaseURL       string `json:"base_url"`
		Key           string `json:"api_key"`
		Template      string `json:"prompt_template"`
		BuildTemplate string `json:"build_prompt_template"`
		QueryTemplate string `json:"query_prompt_template"`
		Batch         int    `json:"batch_size"`
	}
	if len(options) > 0 {
		if err := json.Unmarshal(options, &l); err != nil {
			return nil, fmt.Errorf("embedding_options of the LEANN index: %w", err)
		}
	}
	o.Model = model
	o.Key = cmp.Or(o.Key, l.Key)
	o.DocumentTemplate = cmp.Or(o.DocumentTemplate, l.BuildTemplate, l.Template)
	o.QueryTemplate = cmp.Or(o.QueryTemplate, l.QueryTemplate, l.Template)
	o.Batch = cmp.Or(o.Batch, l.Batch)
	switch mode {
	case "ollama":
		o.URL = cmp.Or(o.URL, l.Host, l.BaseURL)
		return Ollama(o)
	case "openai":
		o.URL = cmp.Or(o.URL, l.BaseURL, l.Host)
		return OpenAI(o)
	}
	return nil, fmt.Errorf("the LEANN index's embedding mode %q needs LEANN itself: name another embedder, or use the builtin one", mode)
}
