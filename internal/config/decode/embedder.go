package decode

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// embedders decodes one embedder, or a list of them.
func (d *decoder) embedders(v any) {
	list, ok := v.([]any)
	if !ok && v != nil {
		d.embedder("embedder", v)
		return
	}
	for i, item := range list {
		d.embedder("embedder["+strconv.Itoa(i)+"]", item)
	}
}

// embedder decodes one embedder. An invalid field would select a different embedder with
// other vectors, so the whole embedder is ignored.
func (d *decoder) embedder(path string, v any) {
	const skipped = "the embedder is ignored"
	m, ok := v.(map[string]any)
	if !ok {
		d.report(path, Problem{Entry: path, Expected: `an embedder with "provider" and "model"`, Got: describe(v),
			Effect: skipped})
		return
	}
	o := &object{decoder: d, path: path, entry: path, fields: m, skipped: skipped, usable: true}
	number := func(field string, high int) int {
		n, ok := integer(m[field])
		if _, given := m[field]; given && (!ok || n < 1 || n > high) {
			o.wrong(field, fmt.Sprintf("a whole number from 1 to %d", high), describe(m[field]))
		}
		return n
	}
	o.secret("api_key", "api_key_env with the name of the environment variable that contains the key")
	d.reportUnknown(path, path, o.fields, "provider", "model", "url", "api_key_env", "query_prompt", "document_prompt",
		"dimensions", "batch", "weight")

	const providers = `"builtin", "ollama", "openai" or "model2vec"`
	var e config.Embedder
	e.Provider = strings.ToLower(strings.TrimSpace(o.text("provider", providers)))
	switch e.Provider {
	case config.ProviderBuiltin:
		return
	case config.ProviderOllama, config.ProviderOpenAI, config.ProviderModel2Vec:
	case "onnx": // a provider of earlier builds
		if o.usable {
			o.wrong("provider", `"ollama" or "openai" with the server that runs the ONNX model, or "model2vec"`,
				describe(m["provider"]))
		}
		return
	default:
		if o.usable {
			o.wrong("provider", providers, describe(m["provider"]))
		}
		return
	}
	if e.Model = strings.TrimSpace(o.text("model", "a model name")); e.Model == "" && o.usable {
		o.wrong("model", "a model name", describe(m["model"]))
	}
	if e.Local() {
		e.Model = d.path(e.Model, func(raw, resolved string) {
			o.unexpected("model", "the absolute path of the model folder", strconv.Quote(raw), "using "+resolved)
		})
	}
	const url = `the server's address, as in "https://api.example.com/v1"`
	e.URL = strings.TrimSpace(o.text("url", url))
	web := strings.HasPrefix(e.URL, "http://") || strings.HasPrefix(e.URL, "https://")
	if o.usable && (e.URL != "" && (!web || config.Host(e.URL) == "") ||
		e.URL == "" && e.Provider == config.ProviderOpenAI) {
		o.wrong("url", url, describe(m["url"]))
	}
	e.KeyEnv = strings.TrimSpace(o.text("api_key_env", "the name of the environment variable that contains the key"))
	if !isVariable(e.KeyEnv) {
		// The value may be the key itself, so it is not repeated in the message.
		o.wrong("api_key_env", "the name of an environment variable, not the key", "")
	}
	e.QueryPrompt = o.text("query_prompt", "a query prefix")
	e.DocumentPrompt = o.text("document_prompt", "a passage prefix")
	e.Dimensions = number("dimensions", 1<<16)
	e.Batch = number("batch", 4096)
	if v, given := m["weight"]; given {
		if e.Weight, ok = weight(v); !ok {
			o.wrong("weight", "a number above 0, up to 10", describe(m["weight"]))
		}
	}
	if o.usable {
		d.config.Embedders = append(d.config.Embedders, e)
	}
}

// weight converts the weight of an embedder.
func weight(v any) (float64, bool) {
	w, ok := decimal(v)
	return w, ok && w > 0 && w <= 10
}

// isVariable reports whether s is empty or can be the name of an environment variable.
func isVariable(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// decimal converts a number as decoded from any of the three formats.
func decimal(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	n, ok := integer(v)
	return float64(n), ok
}
