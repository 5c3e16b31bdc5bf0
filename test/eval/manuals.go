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

// calibrationSets are the manuals of the calibration searches: no model is fitted to them.
// calibration.sh downloads them. Their versions are those that packages and modules have.
var calibrationSets = []manual{
	{name: "flask", title: "Flask", version: "2.2.2-3", urls: []string{"https://flask.palletsprojects.com/"}},
	{name: "celery", title: "Celery", version: "5.2.6-5", urls: []string{"https://docs.celeryq.dev/"}},
	{name: "sphinx", title: "Sphinx", version: "5.3.0-4", urls: []string{"https://www.sphinx-doc.org/"}},
	{name: "bind", title: "BIND", version: "1:9.18.49-1~deb12u1", keywords: []string{"bind9", "named"}, urls: []string{"https://bind9.readthedocs.io/"}},
	{name: "exim", title: "Exim", version: "4.96-1", keywords: []string{"exim4"}, urls: []string{"https://www.exim.org/"}},
	{name: "varnish", title: "Varnish Cache", version: "7.1.1-2+deb12u1", urls: []string{"https://varnish-cache.org/docs/"}},
	{name: "libvirt", title: "libvirt", version: "9.0.0-4+deb12u2", keywords: []string{"virsh"}, urls: []string{"https://libvirt.org/"}},
	{name: "glib", title: "GLib", version: "2.74.6-2+deb12u2", keywords: []string{"gobject", "gio"}, urls: []string{"https://docs.gtk.org/glib/"}},
	{name: "curl", title: "curl", version: "7.88.1-10+deb12u5", keywords: []string{"libcurl"}, urls: []string{"https://curl.se/"}, include: []string{"**"}},
	{name: "postgis", title: "PostGIS", version: "3.3.2+dfsg-1", urls: []string{"https://postgis.net/"}},
	{name: "aiohttp", title: "aiohttp", version: "3.8.4-1+deb12u1", urls: []string{"https://docs.aiohttp.org/"}},
	{name: "tornado", title: "Tornado", version: "6.2.0-3+deb12u4", urls: []string{"https://www.tornadoweb.org/"}},
	{name: "sklearn", title: "scikit-learn", version: "1.2.1+dfsg-1", keywords: []string{"scikit-learn"}, urls: []string{"https://scikit-learn.org/"}},
	{name: "click", title: "Click", version: "8.1.3-2", urls: []string{"https://click.palletsprojects.com/"}},
	{name: "swipl", title: "SWI-Prolog", version: "9.0.4+dfsg-2", keywords: []string{"swi-prolog", "prolog"}, urls: []string{"https://www.swi-prolog.org/"}},
	{name: "ovs", title: "Open vSwitch", version: "3.1.0-2+deb12u1", keywords: []string{"open vswitch", "openvswitch"}, urls: []string{"https://docs.openvswitch.org/"}},
	{name: "fish", title: "fish shell", version: "3.6.0-3.1+deb12u1", urls: []string{"https://fishshell.com/"}},
	{name: "borg", title: "BorgBackup", version: "1.2.4-1", keywords: []string{"borgbackup"}, urls: []string{"https://borgbackup.readthedocs.io/"}},
	{name: "mercurial", title: "Mercurial", version: "6.3.2-1+deb12u1", keywords: []string{"hg"}, urls: []string{"https://www.mercurial-scm.org/"}, include: []string{"**"}},
	{name: "krb5", title: "MIT Kerberos", version: "1.20.1-2+deb12u5", keywords: []string{"kerberos"}, urls: []string{"https://web.mit.edu/kerberos/"}},
	{name: "slurm", title: "Slurm", version: "22.05.8-4+deb12u3", keywords: []string{"sbatch", "scontrol"}, urls: []string{"https://slurm.schedmd.com/"}},
	{name: "icinga2", title: "Icinga", version: "2.13.6-2+deb12u2", keywords: []string{"icinga"}, urls: []string{"https://icinga.com/docs/"}, include: []string{"**"}},
	{name: "rsyslog", title: "rsyslog", version: "8.2302.0+dfsg-1", urls: []string{"https://www.rsyslog.com/doc/"}},
	{name: "doxygen", title: "Doxygen", version: "1.9.4-4", urls: []string{"https://www.doxygen.nl/"}, exclude: []string{"/examples/**"}},
	{name: "lilypond", title: "LilyPond", version: "2.24.1-2", urls: []string{"https://lilypond.org/"}, exclude: []string{"*.??.html"}},
	{name: "gnuplot", title: "gnuplot", version: "5.4.4+dfsg1-2", urls: []string{"http://gnuplot.info/"}},
	{name: "autoconf", title: "Autoconf", version: "2.71-3", urls: []string{"https://www.gnu.org/software/autoconf/"}, include: []string{"**"}},
	{name: "tmux", title: "tmux", version: "3.3a-3", urls: []string{"https://man.openbsd.org/tmux"}, include: []string{"**"}},
	{name: "cilium", title: "Cilium", version: "v1.16.0", urls: []string{"https://docs.cilium.io/"}, include: []string{"**"}},
	{name: "coredns", title: "CoreDNS", version: "v1.12.0", urls: []string{"https://coredns.io/"}, include: []string{"*.md"}},
	{name: "task", title: "Task", version: "v3.44.0", keywords: []string{"go-task", "taskfile"}, urls: []string{"https://taskfile.dev/"}, include: []string{"**"}},
	{name: "fiber", title: "Fiber", version: "v2.52.8", keywords: []string{"gofiber"}, urls: []string{"https://docs.gofiber.io/"}, include: []string{"**"}},
	{name: "goreleaser", title: "GoReleaser", version: "v2.8.0", urls: []string{"https://goreleaser.com/"}, include: []string{"**"}, exclude: []string{"/blog/**"}},
	{name: "loki", title: "Grafana Loki", version: "v3.5.0", keywords: []string{"logql", "logcli"}, urls: []string{"https://grafana.com/docs/loki/"}, include: []string{"**"}},
	{name: "opa", title: "Open Policy Agent", version: "v1.4.0", keywords: []string{"rego"}, urls: []string{"https://www.openpolicyagent.org/"}, include: []string{"**"}},
	{name: "contour", title: "Contour", version: "v1.31", urls: []string{"https://projectcontour.io/"}, include: []string{"**"}},
	{name: "undici", title: "undici", version: "6.19.8", urls: []string{"https://undici.nodejs.org/"}, include: []string{"**"}},
	{name: "pino", title: "Pino", version: "9.4.0", urls: []string{"https://getpino.io/"}, include: []string{"**"}},
	{name: "externaldns", title: "ExternalDNS", version: "v0.18.0", keywords: []string{"external-dns"}, urls: []string{"https://kubernetes-sigs.github.io/external-dns/"}, include: []string{"**"}},
	{name: "jinja", title: "Jinja", version: "3.1.2-1+deb12u3", keywords: []string{"jinja2"}, urls: []string{"https://jinja.palletsprojects.com/"}},
	{name: "scrapy", title: "Scrapy", version: "2.8.0-2", urls: []string{"https://docs.scrapy.org/"}},
	{name: "nut", title: "Network UPS Tools", version: "2.8.0-7", keywords: []string{"upsd"}, urls: []string{"https://networkupstools.org/"}},
	{name: "jq", title: "jq", version: "1.6-2.1+deb12u3", urls: []string{"https://jqlang.org/"}, include: []string{"/man1/**"}},
	{name: "dnsmasq", title: "dnsmasq", version: "2.90-4~deb12u2", urls: []string{"https://dnsmasq.org/"}, include: []string{"/man8/**"}},
	{name: "valgrind", title: "Valgrind", version: "1:3.19.0-1", urls: []string{"https://valgrind.org/"}},
	{name: "thanos", title: "Thanos", version: "v0.38.0", urls: []string{"https://thanos.io/"}, include: []string{"**"}},
	{name: "golangci", title: "golangci-lint", keywords: []string{"golangci-lint"}, version: "v1.64.8", urls: []string{"https://golangci-lint.run/"}, include: []string{"**"}},
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
