package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A manual is the source of a database, with its entry in the user's config file.
type manual struct {
	name     string // of the database, and its first keyword
	title    string
	version  string
	keywords []string // in addition to the name
	urls     []string
	include  []string // default "*.html"
	exclude  []string
}

// names returns the name of the database and its other keywords.
func (m *manual) names() []string {
	return slices.Concat([]string{m.name}, m.keywords)
}

// docSets are the manuals judged by the collections. Excluded are FAQ pages, whose
// questions are among the queries, and generated overview pages.
var docSets = []manual{
	{name: "python", title: "Python", version: "3.11", urls: []string{"https://docs.python.org/3.11/"}, exclude: []string{"faq", "contents.html"}},
	{name: "postgresql", title: "PostgreSQL", version: "15", keywords: []string{"postgres", "psql", "pg"}, urls: []string{"https://www.postgresql.org/docs/15/"}},
	{name: "django", title: "Django", version: "3.2", urls: []string{"https://docs.djangoproject.com/en/3.2/"}, exclude: []string{"faq", "contents.html"}},
	{name: "git", title: "Git", version: "2.39", urls: []string{"https://git-scm.com/docs/"}, exclude: []string{"gitfaq.html", "RelNotes"}},
	{name: "sqlite", title: "SQLite", version: "3.40", keywords: []string{"sqlite3"}, urls: []string{"https://www.sqlite.org/"},
		exclude: []string{"faq.html", "keyword_index*", "sitemap*", "matrix*"}},
	{name: "nodejs", title: "Node.js", version: "18", keywords: []string{"node.js", "node"}, urls: []string{"https://nodejs.org/docs/latest-v18.x/api/"}, exclude: []string{"all.html"}},
	{name: "cmake", title: "CMake", version: "3.25", keywords: []string{"ctest", "cpack"}, urls: []string{"https://cmake.org/cmake/help/v3.25/"}, exclude: []string{"/release"}},
}

// furtherSets are the manuals that only the queries, commands and failures in testdata
// need. manuals.sh downloads them.
var furtherSets = []manual{
	{name: "bash", title: "Bash", version: "5.2", urls: []string{"https://www.gnu.org/software/bash/manual/"}, include: []string{"/bashref.html"}},
	{name: "apache", title: "Apache HTTP Server", version: "2.4", keywords: []string{"apache2", "httpd"}, urls: []string{"https://httpd.apache.org/docs/2.4/"}},
	{name: "rust", title: "Rust", version: "1.63", keywords: []string{"rustc"}, urls: []string{"https://doc.rust-lang.org/"},
		include: []string{"/book/*.html", "/reference/**", "/error-index.html", "/std/**", "/rust-by-example/**", "/rustc/**"}, exclude: []string{"print.html"}},
	{name: "pandas", title: "pandas", version: "1.5", urls: []string{"https://pandas.pydata.org/docs/"}},
	{name: "pytest", title: "pytest", version: "7.2", urls: []string{"https://docs.pytest.org/en/7.2.x/"}},
	{name: "docker", title: "Docker", version: "20.10", keywords: []string{"dockerfile", "dockerd"}, urls: []string{"https://docs.docker.com/"}, include: []string{"*.md", "*.md.gz"}},
	{name: "npm", title: "npm", version: "9", keywords: []string{"npx"}, urls: []string{"https://docs.npmjs.com/cli/v9/"}},
	{name: "systemd", title: "systemd", version: "252", keywords: []string{"systemctl", "journalctl"}, urls: []string{"https://www.freedesktop.org/software/systemd/man/"}, include: []string{"**"}},
	{name: "go", title: "Go language", version: "1.19", keywords: []string{"golang"}, urls: []string{"https://go.dev/ref/"}, include: []string{"/go_spec.html", "/go_mem.html"}},
}

// trainingSets are the manuals of the training searches that are not in docSets. No
// table of docs/quality.md measures them. manuals.sh downloads them.
var trainingSets = []manual{
	{name: "sqlalchemy", title: "SQLAlchemy", version: "1.4", urls: []string{"https://docs.sqlalchemy.org/en/14/"}, exclude: []string{"contents.html"}},
	{name: "ffmpeg", title: "FFmpeg", version: "5.1", keywords: []string{"ffprobe", "ffplay"}, urls: []string{"https://ffmpeg.org/"}, exclude: []string{"*-all.html"}},
	{name: "perl", title: "Perl", version: "5.36", keywords: []string{"perldoc"}, urls: []string{"https://perldoc.perl.org/"}, include: []string{"**"}},
	{name: "postfix", title: "Postfix", version: "3.7", keywords: []string{"postconf"}, urls: []string{"https://www.postfix.org/"}},
	{name: "openssl", title: "OpenSSL", version: "3.0", keywords: []string{"libssl", "libcrypto"}, urls: []string{"https://docs.openssl.org/3.0/"}, include: []string{"**"}},
	{name: "fastify", title: "Fastify", version: "4", urls: []string{"https://fastify.dev/docs/v4.29.x/"}, include: []string{"*.md"}},
}

// A built is the result of building a database.
type built struct {
	Name      string
	Passages  int
	Documents int
	TextBytes int64 `json:"text_bytes"`
	Bytes     int64 `json:"index_bytes"`
	Took      time.Duration
}

// A library is a set of manuals whose pages are in one folder.
type library struct {
	manuals  []manual
	variable string  // environment variable with the folder
	folder   string  // its name in the cache otherwise
	script   string  // downloads the manuals to the folder in the cache
	built    []built // databases of the manuals, nil until built
}

// open returns the folder of a library. At the first call, it builds the databases.
func (l *harness) open(lib *library) (root string, err error) {
	if root, err = l.download(lib); err != nil || lib.built != nil {
		return root, err
	}
	for _, m := range lib.manuals {
		args := []string{"--name", m.name, "--exclude", "/_*"}
		include := m.include
		if include == nil {
			include = []string{"*.html"}
		}
		for _, pattern := range include {
			args = append(args, "--include", pattern)
		}
		for _, pattern := range m.exclude {
			args = append(args, "--exclude", pattern)
		}
		b, err := l.build(filepath.Join(root, m.name), args...)
		if err != nil {
			return "", err
		}
		b.Name = m.name
		lib.built = append(lib.built, b)
	}
	return root, nil
}

// download returns the folder of a library: the value of the environment variable, or
// else a folder in the cache. If a manual is missing from the cache, it runs the script.
func (l *harness) download(lib *library) (root string, err error) {
	if root := os.Getenv(lib.variable); root != "" {
		return root, nil
	}
	root = filepath.Join(l.cache, lib.folder)
	missing := slices.ContainsFunc(lib.manuals, func(m manual) bool {
		_, err := os.Stat(filepath.Join(root, m.name))
		return err != nil
	})
	if missing {
		if err := l.command("bash", lib.script, root).Run(); err != nil {
			return "", fmt.Errorf("download the manuals: %w", err)
		}
	}
	return root, nil
}

// build builds a database.
func (l *harness) build(source string, args ...string) (built, error) {
	cmd := l.command(l.program, append([]string{"index", "build", source, "--json"}, args...)...)
	cmd.Stdout = nil
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return built{}, fmt.Errorf("build %s: %w", source, err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var last struct {
		Built built
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		return built{}, fmt.Errorf("build %s: %w", source, err)
	}
	last.Built.Took = time.Since(began)
	return last.Built, nil
}

// A configuration is a docsearch config file.
type configuration struct {
	Databases []configured   `json:"databases"`
	Hook      map[string]any `json:"hook"`
	Inject    map[string]any `json:"inject,omitempty"`
}

// A configured is a database in the config file.
type configured struct {
	Name        string   `json:"name"`
	Keywords    []string `json:"keywords"`
	Path        string   `json:"path,omitempty"`
	Description string   `json:"description"`
	Version     string   `json:"version,omitempty"`
	URLs        []string `json:"urls,omitempty"`
	Inject      bool     `json:"inject,omitempty"`
	Weaviate    *stored  `json:"weaviate,omitempty"` // instead of Path
}

// A stored is the place of a database in a cluster.
type stored struct {
	URLs     []string `json:"urls"`
	Database string   `json:"database"`
}

// configuration returns the config file of a user with these manuals.
func (l *harness) configuration(manuals ...manual) configuration {
	c := newConfiguration()
	for _, m := range manuals {
		c.Databases = append(c.Databases, configured{
			Name: m.name, Keywords: m.names(), Path: filepath.Join(l.data, m.name),
			Description: m.title + " documentation", Version: m.version, URLs: m.urls,
		})
	}
	return c
}

// newConfiguration returns a config file without databases. It has a long timeout,
// because the measures test decisions, not speed.
func newConfiguration() configuration {
	return configuration{Hook: map[string]any{"timeout_ms": 60_000, "log": false}}
}

// write writes the config file into a folder and returns its path.
func (c configuration) write(dir string) (string, error) {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "config.json")
	return path, os.WriteFile(path, data, 0o644)
}
