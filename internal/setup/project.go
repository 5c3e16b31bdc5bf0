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
)

// A project is what a file says of the project whose it is.
type project struct {
	name string
	url  string // of its documentation
}

// A projectFile is one that has a name by convention.
type projectFile struct {
	name string
	read func(data []byte) project
}

// addProject adds what the files in a folder say of their project.
func (e *Suggestions) addProject(root *os.Root) {
	for _, file := range projectFiles {
		data, err := readBeginning(root, file.name)
		if err != nil {
			continue
		}
		p := file.read(data)
		if name := strings.TrimSpace(p.name); name != "" {
			e.Projects = append(e.Projects, name)
		}
		if own := siteURL(p.url); own != "" {
			e.Own = append(e.Own, own)
		}
	}
}

// projectFiles are the files that say what a project is called, those of its
// documentation first.
var projectFiles = [...]projectFile{
	{"objects.inv", func(data []byte) project { return project{name: lineAfter(data, "# Project: ")} }}, // Sphinx
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
	{"go.mod", func(data []byte) project { return project{name: moduleName(lineAfter(data, "module "))} }},
}

func yamlProject(data []byte) project {
	var v struct {
		SiteName string `yaml:"site_name"`
		SiteURL  string `yaml:"site_url"`
		Title    string `yaml:"title"`
		URL      string `yaml:"url"`
		BaseURL  string `yaml:"baseurl"`
	}
	if yaml.Unmarshal(data, &v) != nil {
		return project{}
	}
	return project{v.SiteName + v.Title, v.SiteURL + v.URL + v.BaseURL}
}

func tomlProject(data []byte) project {
	type table struct{ Name, Title string }
	var v struct {
		Title, BaseURL         string
		Book, Project, Package table
	}
	if toml.Unmarshal(data, &v) != nil {
		return project{}
	}
	return project{v.Title + v.Book.Title + v.Project.Name + v.Package.Name, v.BaseURL}
}

func jsonProject(data []byte) project {
	var v struct{ Name string }
	if json.Unmarshal(data, &v) != nil {
		return project{}
	}
	return project{name: v.Name[strings.LastIndexByte(v.Name, '/')+1:]} // without its owner
}

// scriptProject reads what is written out in a program that makes a
// configuration.
func scriptProject(data []byte) project {
	value := func(key string) string {
		found := regexp.MustCompile("(?m)^\\s*" + key + ":\\s*['\"`]([^'\"`$]+)['\"`]").FindSubmatch(data)
		if found == nil {
			return ""
		}
		return string(found[1])
	}
	return project{value("title"), value("url") + value("baseUrl")}
}

// moduleName is the last part of a Go module's path that is not a version.
func moduleName(module string) string {
	parts := strings.Split(strings.Trim(module, "\" \t\r"), "/")
	for len(parts) > 1 && isVersion(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return parts[len(parts)-1]
}

// siteURL is the URL of a site's pages as a project gives it, "" if it is none
// of a public site.
func siteURL(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || isLocal(u.Host) || !strings.Contains(u.Hostname(), ".") || strings.HasSuffix(u.Hostname(), "example.com") {
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
