//go:build e2e

package e2e

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ociregistry "github.com/google/go-containerregistry/pkg/registry"
)

// The whole way of a pack: a recipe is built in one home, packed, signed and pushed to a
// registry, and listed in a catalog. In another home, setup finds it by name, and the
// client's web search is denied with an answer from it.
func TestPacks(t *testing.T) {
	host := strings.TrimPrefix(serveRegistry(t), "http://")
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			// The publisher, as in continuous integration.
			ci := newSession(t, version)
			modules := t.TempDir()
			docs := filepath.Join(modules, "example.org", "docsearch@v1.0.0", "docs")
			if err := os.CopyFS(docs, os.DirFS(filepath.Join(root(t), "docs"))); err != nil {
				t.Fatal(err)
			}
			ci.setenv("GOMODCACHE", modules)
			ci.setenv("DOCKER_CONFIG", t.TempDir())
			ci.write(t, filepath.Join(ci.project, "docsearch.toml"), `title = "docsearch"
keywords = ["docsearch"]
license = "MIT"
attribution = "The docsearch authors"
questions = ["`+question+`"]

[source]
installed = "go:example.org/docsearch"
`)
			ci.docsearch(t, "setup", "./docsearch.toml", "--yes", "--no-install")
			output := strings.Fields(ci.docsearch(t, "pack", "key", "new", "docs.example.com"))
			key := output[slices.IndexFunc(output, func(w string) bool { return strings.HasPrefix(w, "docs.example.com+") })]
			pack := "oci://" + host + "/docs/docsearch:" + version
			catalog := "oci://" + host + "/docs/catalog:" + version
			ci.docsearch(t, "pack", "make", "docsearch", "--license", "MIT", "--attribution", "The docsearch authors", "-o", pack)
			ci.docsearch(t, "catalog", "make", "community", pack, "-o", catalog)

			// The reader.
			s := newSession(t, version)
			s.setenv("DOCKER_CONFIG", t.TempDir())
			s.write(t, s.settings(), settings)
			s.docsearch(t, "catalog", "add", catalog, "--key", key)
			out := s.docsearch(t, "setup", "docsearch", "--yes", "--install")
			if !strings.Contains(out, "of docs.example.com, from the catalog community") {
				t.Errorf("setup said\n%s", out)
			}
			m := newModel(t, func(c conversation) reply {
				results := c.results()
				switch {
				case c.tool("WebSearch") == nil && len(results["ToolSearch"]) == 0 && c.tool("ToolSearch") != nil:
					return call("load", "ToolSearch", map[string]any{"query": "select:WebSearch", "max_results": 5})
				case len(results["WebSearch"]) == 0:
					return call("first", "WebSearch", map[string]any{"query": question})
				}
				return say("Done.")
			})
			r := s.ask(t, m, "How does a denied web search go through?")
			if len(m.requests) == 0 {
				t.Fatalf("the model was not asked; the client said\n%s", r)
			}
			last := m.requests[len(m.requests)-1]
			searches := last.results()["WebSearch"]
			if len(searches) != 1 || !searches[0].IsError || !strings.Contains(searches[0].Content.text(), "published by docs.example.com") {
				t.Errorf("the search was not denied from the pack\nthe model saw\n%s", last.text())
			}
			if len(m.searches) != 0 {
				t.Errorf("these searches went to the web: %q", m.searches)
			}
		})
	}
}

func serveRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(ociregistry.New(ociregistry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return server.URL
}
