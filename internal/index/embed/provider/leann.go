package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// FromLEANN returns the options that a LEANN index's meta.json stands for by
// embedding_model, embedding_mode and embedding_options, the last of which may
// be empty. The mode, "ollama" or "openai", says which provider they are for;
// modes that only Python can run are an error. What o says comes first.
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
	return o, fmt.Errorf("embedding mode %q of the LEANN index requires LEANN; use an embedder that serves the model %s, or the builtin embedder", mode, model)
}
