package setup

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/loopback"
)

// A description is the name and URL that a project file contains.
type description struct {
	name string
	url  string // of its documentation
}

// A projectFile is a file with a conventional name, and its parser.
type projectFile struct {
	name string
	read func(data []byte) description
}

// addProject adds the names and URLs from the project files in a folder.
func (s *Suggestions) addProject(root *os.Root) {
	for _, file := range projectFiles {
		data, err := readBeginning(root, file.name)
		if err != nil {
			continue
		}
		p := file.read(data)
		if name := strings.TrimSpace(p.name); name != "" {
			s.Projects = append(s.Projects, name)
		}
		if own := siteURL(p.url); own != "" {
			s.Own = append(s.Own, own)
		}
	}
}

// projectFiles lists the files that contain a project's name. Files of
// documentation generators come first.
var projectFiles = [...]projectFile{
	{"objects.inv", func(data []byte) description { return description{name: lineAfter(data, "# Project: ")} }}, // Sphinx
	{"mkdocs.yml", yamlProject},
	{"mkdocs.yaml", yamlProject},
	{"docusaurus.config.js", scriptProject},
	{"docusaurus.config.ts", scriptProject},
	{"antora.yml", yamlProject},
	{"_config.yml", yamlProject}, // Jekyll
	{"book.toml", tomlProject},   // mdBook
	{"hugo.toml", tomlProject},
	{"pyproject.toml", tomlProject},
	{"Cargo.toml", tomlProject},
	{"package.json", jsonProject},
	{"composer.json", jsonProject},
	{"go.mod", func(data []byte) description { return description{name: moduleName(lineAfter(data, "module "))} }},
}

func yamlProject(data []byte) description {
	var v struct {
		SiteName yamlText `yaml:"site_name"`
		SiteURL  yamlText `yaml:"site_url"`
		Title    yamlText `yaml:"title"`
		URL      yamlText `yaml:"url"`
		BaseURL  yamlText `yaml:"baseurl"`
	}
	if yaml.Unmarshal(data, &v) != nil {
		return description{}
	}
	return description{string(v.SiteName + v.Title), string(v.SiteURL + v.URL + v.BaseURL)}
}

// A yamlText is a text, or in MkDocs the default of environment variables:
// !ENV [VARIABLE, text].
type yamlText string

func (t *yamlText) UnmarshalYAML(node *yaml.Node) error {
	switch n := len(node.Content); {
	case node.Tag == "!ENV" && n > 1:
		*t = yamlText(node.Content[n-1].Value)
	case node.Tag != "!ENV" && node.Kind == yaml.ScalarNode:
		*t = yamlText(node.Value)
	}
	return nil
}

func tomlProject(data []byte) description {
	type table struct{ Name, Title string }
	var v struct {
		Title, BaseURL         string
		Book, Project, Package table
	}
	if toml.Unmarshal(data, &v) != nil {
		return description{}
	}
	return description{v.Title + v.Book.Title + v.Project.Name + v.Package.Name, v.BaseURL}
}

func jsonProject(data []byte) description {
	var v struct{ Name string }
	if json.Unmarshal(data, &v) != nil {
		return description{}
	}
	return description{name: v.Name[strings.LastIndexByte(v.Name, '/')+1:]} // without its owner
}

// scriptProject reads the literal values in a script that exports a
// configuration.
func scriptProject(data []byte) description {
	value := func(key string) string {
		found := regexp.MustCompile("(?m)^\\s*" + key + ":\\s*['\"`]([^'\"`$]+)['\"`]").FindSubmatch(data)
		if found == nil {
			return ""
		}
		return string(found[1])
	}
	return description{value("title"), value("url") + value("baseUrl")}
}

// moduleName returns the last element of a Go module path, without a version
// suffix.
func moduleName(module string) string {
	parts := strings.Split(strings.Trim(module, "\" \t\r"), "/")
	for len(parts) > 1 && isVersion(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return parts[len(parts)-1]
}

// siteURL normalizes the URL of a public site. For any other URL it returns "".
func siteURL(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || loopback.IsHost(u.Host) ||
		!strings.Contains(u.Hostname(), ".") || isExample(u.Hostname()) {
		return ""
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(path.Clean("/"+u.Path), "/") + "/"
}

func lineAfter(data []byte, start string) string {
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, start); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// isExample reports whether a host name is reserved for documentation (RFC 2606).
func isExample(host string) bool {
	for _, domain := range []string{"example.com", "example.org", "example.net"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return strings.HasSuffix(host, ".example")
}
