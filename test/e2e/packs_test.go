//go:build e2e

package e2e

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ociregistry "github.com/google/go-containerregistry/pkg/registry"
	"go.yaml.in/yaml/v3"
)

// The whole way of a pack: the step of the workflow builds a recipe from a mirror, packs,
// signs and pushes it to a registry, and lists it in a catalog. In another home, setup
// finds it by name, and the client's web search is denied with an answer from it.
func TestPacks(t *testing.T) {
	host := strings.TrimPrefix(serveRegistry(t), "http://")
	mirror := serveMirror(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			// The publisher, as in continuous integration.
			ci := newSession(t, version)
			ci.setenv("DOCKER_CONFIG", t.TempDir())
			ci.write(t, filepath.Join(ci.project, "docsearch.toml"), `title = "docsearch"
keywords = ["docsearch"]
urls = ["https://docs.example.com/docsearch/"]
license = "MIT"
attribution = "The docsearch authors"
questions = ["`+question+`"]

[source]
site = "`+mirror+`/docs/llms.txt"
`)
			keyFile := filepath.Join(t.TempDir(), "key")
			output := strings.Fields(ci.docsearch(t, "pack", "key", "new", "docs.example.com", "--out", keyFile))
			key := output[slices.IndexFunc(output, func(w string) bool { return strings.HasPrefix(w, "docs.example.com+") })]
			ci.publish(t, host+"/"+version, "./docsearch.toml", keyFile)

			// The reader.
			s := newSession(t, version)
			s.setenv("DOCKER_CONFIG", t.TempDir())
			s.write(t, s.settings(), settings)
			s.docsearch(t, "catalog", "add", "oci://"+host+"/"+version+"/catalog:latest", "--key", key)
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

// publish runs the last step of the workflow packs.yml: it builds a recipe and pushes its
// pack and a catalog to a repository.
func (s *session) publish(t *testing.T, repository, recipe, keyFile string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), ".github", "workflows", "packs.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(data, &workflow); err != nil {
		t.Fatal(err)
	}
	steps := workflow.Jobs["packs"].Steps
	i := slices.IndexFunc(steps, func(s struct{ Name, Run string }) bool { return s.Name == "Build, sign, and push" })
	if i < 0 {
		t.Fatal("the workflow has no step that pushes")
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program(t), filepath.Join(s.project, "docsearch")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", steps[i].Run)
	cmd.Dir = s.project
	cmd.Env = append(slices.Clone(s.env), "REPOSITORY="+repository, "RECIPES="+recipe, "PACKS_KEY="+string(key), "RUNNER_TEMP="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// serveMirror serves docsearch's documentation with a list of its pages.
func serveMirror(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no documentation: %v", err)
	}
	list := "# docsearch\n\n"
	for _, page := range pages {
		list += "- [" + filepath.Base(page) + "](/docs/" + filepath.Base(page) + ")\n"
	}
	mux := http.NewServeMux()
	mux.Handle("/docs/", http.StripPrefix("/docs/", http.FileServer(http.Dir(filepath.Join(root(t), "docs")))))
	mux.HandleFunc("/docs/llms.txt", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, list) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func serveRegistry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(ociregistry.New(ociregistry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return server.URL
}
