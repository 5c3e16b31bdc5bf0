package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// FromLEANN completes the options o with those of a LEANN index, from the fields
// embedding_model, embedding_mode and embedding_options of its meta.json. options
// may be empty. The mode selects the provider, "ollama" or "openai"; modes that
// need Python are an error. Nonzero fields of o have precedence, except Model.
func FromLEANN(model, mode string, options json.RawMessage, o Options) (Options, error) {
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
			return o, fmt.Errorf("invalid embedding_options in the LEANN index: %w", err)
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
		return o, nil
	case "openai":
		o.URL = cmp.Or(o.URL, l.BaseURL, l.Host)
		return o, nil
	}
	return o,
		fmt.Errorf("embedding mode %q of the LEANN index requires LEANN; use an embedder that serves the model %s, or the builtin embedder", mode, model)
}
