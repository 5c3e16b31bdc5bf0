package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/config"
)

func TestClusters(t *testing.T) {
	const node = "https://node1.example.com:8080"
	cluster := func(fields map[string]any) map[string]any {
		m := map[string]any{"urls": []any{node}, "database": "handbook"}
		for k, v := range fields {
			m[k] = v
			if v == nil {
				delete(m, k)
			}
		}
		return m
	}
	for _, tt := range []struct {
		name    string
		cluster any
		entry   map[string]any
		usable  bool
		problem string
	}{
		{"one node", cluster(nil), nil, true, ""},
		{"all fields", cluster(map[string]any{"urls": []any{node + "/", "http://127.0.0.1:8080"}, "api_key_env": "KEY"}), nil, true, ""},
		{"one URL as text", cluster(map[string]any{"urls": node}), nil, true, ""},
		{"no object", node, nil, false, `want an object with "urls"`},
		{"no URLs", cluster(map[string]any{"urls": nil}), nil, false, "weaviate.urls: want a list of the nodes' URLs"},
		{"http", cluster(map[string]any{"urls": []any{node, "http://node2.example.com"}}), nil, false, "http is for this machine only"},
		{"user", cluster(map[string]any{"urls": []any{"https://a:b@node1.example.com"}}), nil, false, "weaviate.urls"},
		{"path", cluster(map[string]any{"urls": []any{node + "/v1"}}), nil, false, "weaviate.urls"},
		{"no database", cluster(map[string]any{"database": nil}), nil, false, "weaviate.database: want the name"},
		{"key", cluster(map[string]any{"api_key": "s3cret"}), nil, false, "must not contain the key"},
		{"key as variable", cluster(map[string]any{"api_key_env": "s3cret-key"}), nil, false, "not the key"},
		{"unknown key", cluster(map[string]any{"url": node}), nil, true, `did you mean "urls"?`},
		{"with a path", cluster(nil), map[string]any{"path": "/d"}, false, `path: want none with "weaviate"`},
		{"with another tool", cluster(nil), map[string]any{"mcp_tool_name": "mcp__x__search"}, false, "mcp_tool_name: want none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entry := map[string]any{"keywords": []any{"handbook"}, "description": "Handbook", "weaviate": tt.cluster}
			for k, v := range tt.entry {
				entry[k] = v
			}
			local := map[string]any{"keywords": []any{"handbook"}, "description": "Another", "path": t.TempDir()}
			c, problems := Config(Settings{Values: map[string]any{"databases": []any{entry, local}}, Line: func(string) int { return 0 }, Dir: "/c", Home: "/home/me"})
			text := ""
			for _, p := range problems {
				text += p.String() + "\n"
			}
			if len(c.Clustered) == 1 != tt.usable || !strings.Contains(text, tt.problem) || (text == "") != (tt.problem == "") {
				t.Errorf("%d databases in clusters, problems %s", len(c.Clustered), text)
			}
			if strings.Contains(strings.ToLower(text), "s3cret") {
				t.Errorf("a secret is in %s", text)
			}
			if len(c.Databases) != 1 || tt.usable && (c.Clustered[0].Name != "handbook" || c.Databases[0].Name != "handbook-2") {
				t.Errorf("got %+v and %+v", c.Databases, c.Clustered)
			}
		})
	}
}

// A database of a cluster never replaces another one, and has its cluster as its server.
func TestAddClustered(t *testing.T) {
	entry := func(name string) config.Database {
		return config.Database{Name: name, Cluster: &config.Cluster{URLs: []string{"https://a.example", "https://b.example"}, Database: "x"}}
	}
	c := config.Config{Databases: []config.Database{{Name: "Local", Path: "/l"}}, Clustered: []config.Database{entry("local"), entry("far")}}
	c.AddClustered()
	c.AddClustered()
	names := []string{}
	for _, db := range c.Databases {
		names = append(names, db.Name)
	}
	if !slices.Equal(names, []string{"Local", "far"}) || c.Databases[1].Remote != "https://a.example" || c.Databases[1].RemoteName != "x" {
		t.Errorf("got %+v", c.Databases)
	}
}
