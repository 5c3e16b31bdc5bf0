package decode

import (
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// cluster decodes the Weaviate cluster of a database, or returns nil if a field is
// invalid: a request to another address would not be what the user wanted.
func (d *decoder) cluster(path, entry string, v any) *config.Cluster {
	const skipped = "the entry is ignored"
	m, ok := v.(map[string]any)
	if !ok {
		d.report(path, Problem{Entry: entry, Field: "weaviate", Expected: `an object with "urls" and "database"`,
			Got: describe(v), Effect: skipped})
		return nil
	}
	o := &object{decoder: d, path: path, entry: entry, prefix: "weaviate.", fields: m, skipped: skipped, usable: true}
	o.secret("api_key", "api_key_env: the config must not contain the key")
	d.reportUnknown(path, entry, o.fields, "urls", "database", "api_key_env")
	c := &config.Cluster{}
	const urls = `a list of the nodes' URLs, as in "https://node1.example.com:8080"; http is for this machine only`
	list, bad := stringList(m["urls"])
	for _, url := range list {
		url = strings.TrimRight(url, "/")
		if !config.IsServerURL(url) {
			bad = append(bad, url)
		}
		c.URLs = append(c.URLs, url)
	}
	switch {
	case len(bad) > 0:
		o.wrong("urls", urls, describe(bad[0]))
	case len(c.URLs) == 0:
		o.wrong("urls", urls, describe(m["urls"]))
	}
	const variable = "the name of an environment variable, not the key"
	if v, given := m["api_key_env"]; given {
		c.KeyEnv, ok = v.(string)
		if c.KeyEnv = strings.TrimSpace(c.KeyEnv); !ok || !isVariable(c.KeyEnv) {
			o.wrong("api_key_env", variable, "") // it may be the key
		}
	}
	name, ok := m["database"].(string)
	if c.Database = strings.TrimSpace(name); !ok || c.Database == "" {
		o.wrong("database", "the name of the database in the cluster", describe(m["database"]))
	}
	if !o.usable {
		return nil
	}
	return c
}
