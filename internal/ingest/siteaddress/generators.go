package siteaddress

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// siteFolders are the folders in which a repository has the configuration of its site.
var siteFolders = []string{"website", "site", "docs", "doc", "documentation", "www", "guides", "book", "apps/docs",
	"apps/www", "docs-site", "docs/site"}

// maxFolders limits the folders in which configurations are searched, maxConfig their size.
const (
	maxFolders = 2000
	maxConfig  = 256 << 10
)

// IsConfig reports whether a file may configure a site, so that sources which copy files
// copy it, too.
func IsConfig(name string) bool {
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if strings.Contains("/"+name, "/.vitepress/") {
		return stem == "config" || path.Base(path.Dir(name)) == "config"
	}
	switch base {
	case "mkdocs.yml", "mkdocs.yaml", "conf.py", "config.toml", "config.yaml", "config.yml", "_config.yml", "book.toml",
		"antora.yml", ".gitbook.yaml", "docs.json", "mint.json", "CNAME":
		return true
	case "package.json", "documents.yaml", "mix.exs":
		return strings.Count(name, "/") <= 2
	}
	switch stem {
	case "docusaurus.config", "astro.config", "nuxt.config", "next.config", "source.config", "hugo":
		return true
	}
	return false
}

// configured returns the rules and redirects of the configurations in the folders of the
// documents, above them, and in siteFolders there. redirects has addresses by those to which
// they are redirected.
func configured(tree fs.FS, names []string) (rules []rule, redirects map[string][]string) {
	folders, list := map[string]bool{}, []string(nil)
	add := func(folder string) bool {
		if folders[folder] || len(list) >= maxFolders {
			return false
		}
		folders[folder] = true
		list = append(list, folder)
		return true
	}
	for _, name := range names {
		for folder := path.Dir(name); add(folder) && folder != "."; {
			folder = path.Dir(folder)
		}
	}
	for _, folder := range slices.Clone(list) {
		if strings.Count(folder, "/") > 1 {
			continue
		}
		for _, site := range siteFolders {
			add(path.Join(folder, site))
		}
	}
	redirects = map[string][]string{}
	for _, folder := range list {
		entries, err := fs.ReadDir(tree, folder)
		if err != nil {
			continue
		}
		c := &config{tree: tree, folder: folder, names: names, redirects: redirects}
		for _, e := range entries {
			c.read(e.Name())
		}
		rules = append(rules, c.rules...)
	}
	return rules, redirects
}

// A config reads the configurations in one folder.
type config struct {
	tree   fs.FS
	folder string
	names  []string // of the documents
	rules  []rule

	redirects map[string][]string
}

// text returns the contents of a file in the folder, or "".
func (c *config) text(name string) string {
	name = path.Join(c.folder, name)
	st, err := fs.Stat(c.tree, name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > maxConfig {
		return ""
	}
	data, _ := fs.ReadFile(c.tree, name)
	return string(data)
}

// first returns the first file of the folder that exists among a name's variants.
func (c *config) first(names ...string) string {
	for _, name := range names {
		if text := c.text(name); text != "" {
			return text
		}
	}
	return ""
}

// add adds a rule for a folder in the folder of the configuration.
func (c *config) add(folder, base string, st style) {
	full := withSlash(path.Join(c.folder, folder))
	if strings.HasPrefix(full, "../") {
		return
	}
	c.rules = append(c.rules, rule{full, withSlash(base), st})
	if base == "/" {
		c.rules[len(c.rules)-1].base = "/"
	}
}

// redirect adds a redirect from one address to another.
func (c *config) redirect(from, to string) {
	to, _, _ = strings.Cut(to, "#")
	to = strings.TrimSuffix(to, "/")
	c.redirects[to] = append(c.redirects[to], from)
}

// read reads a configuration and adds its rules.
func (c *config) read(name string) {
	switch stem := strings.TrimSuffix(name, path.Ext(name)); {
	case stem == "docusaurus.config":
		c.docusaurus(c.text(name))
	case name == ".vitepress":
		c.vitepress()
	case name == "mkdocs.yml", name == "mkdocs.yaml":
		c.mkdocs(c.text(name))
	case name == "conf.py":
		c.sphinx(c.text(name))
	case stem == "hugo", stem == "config" && strings.Contains(".toml.yaml.yml", path.Ext(name)) && path.Ext(name) != "":
		c.hugo(c.text(name))
	case name == "config":
		c.hugo(c.first("config/_default/hugo.toml", "config/_default/hugo.yaml", "config/_default/config.toml",
			"config/_default/config.yaml"))
	case name == "_config.yml":
		c.jekyll(c.text(name))
	case stem == "astro.config":
		c.astro(c.text(name))
	case stem == "nuxt.config":
		c.add("content", c.site("")+"/", style{numbers: true})
	case stem == "next.config":
		c.next(c.text(name))
	case stem == "source.config":
		c.add("content/docs", c.site("")+"/docs", style{groups: true})
	case name == "book.toml":
		c.mdbook(c.text(name))
	case name == "antora.yml":
		c.antora(c.text(name))
	case name == ".gitbook.yaml":
		c.add(field(c.text(name), "root"), "", style{})
	case name == "docs.json", name == "mint.json":
		if text := c.text(name); strings.Contains(text, `"navigation"`) {
			c.add("", c.site("")+"/", style{groups: true})
		}
	case name == "mix.exs" && strings.Contains(c.text(name), "extras"): // ExDoc: no folders
		c.add("", "", style{ending: ".html", flat: true, lower: true})
	case name == "documents.yaml" && path.Base(c.folder) == "source":
		c.add("", "", style{ending: ".html"})
	}
}

// site returns the URL of the site without a slash at the end: url if it is one, else that
// of the domain file or the package's homepage, else "".
func (c *config) site(url string) string {
	if !strings.HasPrefix(url, "http") {
		url = ""
	}
	if domain := strings.TrimSpace(c.first("CNAME", "static/CNAME", "public/CNAME", "docs/CNAME", "docs/public/CNAME")); url == "" && domain != "" && !strings.ContainsAny(domain, "/ \n") {
		url = "https://" + domain
	}
	if home := field(c.text("package.json"), "homepage"); url == "" && strings.HasPrefix(home, "https://") &&
		!strings.Contains(home, "github.com") && !strings.Contains(home, "npmjs.com") {
		url = strings.TrimRight(siteOf(home), "/")
	}
	return strings.TrimRight(url, "/")
}

// field returns the value of the first line with a key of YAML, TOML, JSON or JavaScript,
// or "" if it is not a text.
func field(text, key string) string {
	m := regexp.MustCompile(`(?m)^[ \t{]*["']?` + key +
		`["']?[ \t]*[:=][ \t]*(.*?)[ \t]*,?[ \t]*$`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	v := unquote(m[1])
	if strings.ContainsAny(v, " ()$!|") {
		return ""
	}
	return strings.TrimRight(v, ",")
}

// inPath returns a path with one slash at both ends.
func inPath(parts ...string) string {
	if p := strings.Trim(path.Join(parts...), "/"); p != "" && p != "." {
		return "/" + p + "/"
	}
	return "/"
}

var docusaurusFields = fields{last: [2]string{"slug", "id"}}

func (c *config) docusaurus(text string) {
	text = regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(text, "")
	site, base := c.site(field(text, "url")), field(text, "baseUrl")
	if !strings.HasPrefix(base, "/") {
		base = "" // the name of a variable
	}
	st := style{numbers: true, twin: true, fields: docusaurusFields}
	found := map[string]bool{}
	docs := func(folder, route string) {
		folder = strings.TrimPrefix(folder, "./")
		if found[folder] {
			return
		}
		found[folder] = true
		address := site + inPath(base, route)
		if folder == "docs" && c.versions(text, address, st) {
			address += "next/"
		}
		c.add(folder, address, st)
	}
	for _, at := range regexp.MustCompile(`\brouteBasePath\s*:\s*['"`+"`"+`]([^'"`+"`"+
		`]*)`).FindAllStringSubmatchIndex(text, -1) {
		object := around(text, at[0])
		folder := field(object, "path")
		if inline := regexp.MustCompile(`\bpath\s*:\s*['"` + "`" + `]([^'"` + "`" + `]*)`).FindStringSubmatch(object); folder == "" && inline != nil {
			folder = inline[1]
		}
		if folder == "" && !strings.Contains(object, "blog") {
			folder = "docs"
		}
		if folder != "" {
			docs(folder, text[at[2]:at[3]])
		}
	}
	if m := regexp.MustCompile(`\bdocs\s*:\s*\{`).FindStringIndex(text); m != nil {
		object := around(text, m[1])
		if folder := field(object, "path"); folder != "" && field(object, "routeBasePath") == "" {
			docs(folder, "docs")
		}
	}
	docs("docs", "docs")
	c.add("src/pages", site+inPath(base), style{})
	c.add("static", site+inPath(base), style{asIs: true})
	c.docusaurusRedirects(text, site, base)
}

// docusaurusRedirects reads the redirects of plugin-client-redirects:
// { from: ["/a", "/b"], to: "/c" }.
func (c *config) docusaurusRedirects(text, site, base string) {
	const quote = `["'` + "`" + `]`
	to := regexp.MustCompile(`\bto\s*:\s*` + quote + `(/[^"'` + "`" + `]*)`)
	for _, at := range regexp.MustCompile(`\bfrom\s*:\s*(\[[^\]]*\]|`+quote+`/[^"'`+"`"+`]*`+quote+`)`).
		FindAllStringSubmatchIndex(text, -1) {
		if page := to.FindStringSubmatch(around(text, at[0])); page != nil {
			for _, from := range items(text[at[2]:at[3]]) {
				c.redirect(site+inPath(base, from), site+inPath(base, page[1]))
			}
		}
	}
}

// versions adds rules for the folders of released versions. It returns false if the folder of
// the next version has the addresses of the current one.
func (c *config) versions(text, address string, st style) bool {
	versions := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(c.text("versions.json"), -1)
	last := field(text, "lastVersion")
	for i, m := range versions {
		folder := path.Join("versioned_docs", "version-"+m[1])
		if !c.has(folder) {
			continue
		}
		// versions: { "2.0": { label: "2.0 (old)", path: "v2" } }
		given := regexp.MustCompile(`["']?\b` + regexp.QuoteMeta(m[1]) +
			`["']?\s*:\s*\{[^{}]*?\bpath\s*:\s*["']([^"']*)["']`).FindStringSubmatch(text)
		switch {
		case given != nil:
			c.add(folder, strings.TrimSuffix(address, "/")+inPath(given[1]), st)
		case m[1] == last || i == 0 && last == "":
			c.add(folder, address, st)
		default:
			c.add(folder, address+m[1], st)
		}
	}
	return last != "current" && len(versions) > 0 && c.has("versioned_docs")
}

// has reports whether the source has documents below a folder in that of the configuration.
func (c *config) has(folder string) bool {
	folder = withSlash(path.Join(c.folder, folder))
	return slices.ContainsFunc(c.names, func(name string) bool { return strings.HasPrefix(name, folder) })
}

// around returns the innermost braces of JavaScript around a position.
func around(text string, at int) string {
	start, depth := at, 0
	for ; start > 0; start-- {
		if c := text[start-1]; c == '}' {
			depth++
		} else if c == '{' {
			if depth--; depth < 0 {
				break
			}
		}
	}
	end := at
	for depth = 0; end < len(text); end++ {
		if c := text[end]; c == '{' {
			depth++
		} else if c == '}' {
			if depth--; depth < 0 {
				break
			}
		}
	}
	return text[start:end]
}

func (c *config) vitepress() {
	text := c.first(".vitepress/config.ts", ".vitepress/config.mts", ".vitepress/config.js", ".vitepress/config.mjs",
		".vitepress/config/index.ts", ".vitepress/config/index.mts", ".vitepress/config/index.js")
	shared := text + "\n" + c.first(".vitepress/config/shared.ts", ".vitepress/config/shared.mts")
	if text == "" {
		return
	}
	st := style{ending: ".html"}
	if field(shared, "cleanUrls") == "true" {
		st.ending = ""
	}
	host := field(shared, "hostname")
	if m := regexp.MustCompile(`hostname:\s*['"]([^'"]+)`).FindStringSubmatch(shared); m != nil {
		host = m[1]
	}
	c.add(field(shared, "srcDir"), c.site(host)+inPath(field(shared, "base")), st)
}

// topLevel returns the lines of YAML that are not indented.
func topLevel(text string) string {
	return regexp.MustCompile(`(?m)^[ \t]+.*\n?`).ReplaceAllString(text, "")
}

func (c *config) mkdocs(text string) {
	all := text
	text = topLevel(text)
	st := style{ending: "/"}
	if field(text, "use_directory_urls") == "false" {
		st.ending = ".html"
	}
	folder := field(text, "docs_dir")
	if folder == "" {
		folder = "docs"
	}
	c.add(folder, c.site(field(text, "site_url")), st)
	if parent := field(text, "INHERIT"); parent != "" {
		all += c.text(parent)
	}
	// The plugin for redirects has a map of documents, of which the old ones do not exist.
	_, redirects, ok := strings.Cut(all, "redirect_maps:")
	if !ok || len(c.rules) == 0 {
		return
	}
	r := c.rules[len(c.rules)-1]
	document := regexp.MustCompile(`(?m)^[ \t]+["']?([^\s"'#:]+\.md)["']?[ \t]*:[ \t]*["']?([^\s"'#:]+\.md)\b`)
	for _, m := range document.FindAllStringSubmatch(redirects, -1) {
		c.redirect(r.address(m[1], nil), r.address(m[2], nil))
	}
}

func (c *config) sphinx(text string) {
	if strings.Contains(text, "extensions") || strings.Contains(text, "html_theme") ||
		strings.Contains(text, "master_doc") {
		c.add("", c.site(field(text, "html_baseurl")), style{ending: ".html"})
	}
}

func (c *config) hugo(text string) {
	base := field(text, "(?i:baseurl)")
	if url := field(text, "base_url"); base == "" && url != "" { // Zola
		c.add("content", c.site(url)+"/",
			style{ending: "/", numbers: false, fields: fields{whole: "path", last: [2]string{"slug"}}})
		return
	}
	if base == "" {
		return
	}
	folder := field(text, "contentDir")
	if folder == "" {
		folder = "content"
	}
	locale := field(text, "defaultContentLanguage")
	if locale == "" {
		locale = "en"
	}
	c.add(folder, c.site(base)+"/", style{ending: "/", lower: true, locale: locale, hugo: true,
		fields: fields{whole: "url", last: [2]string{"slug"}, redirects: [2]string{"aliases"}}})
	c.add("static", c.site(base)+"/", style{asIs: true})
}

func (c *config) jekyll(text string) {
	top := topLevel(text)
	base := c.site(field(top, "url")) + inPath(field(top, "baseurl"))
	st := style{ending: ".html", fields: fields{below: "permalink", redirects: [2]string{"redirect_from"}}}
	if link := field(top, "permalink"); link == "pretty" || strings.HasSuffix(link, "/") {
		st.ending = "/"
	}
	c.add("", base, st)
	st.fields.home = withSlash(base) // permalinks of a collection's pages are below the site
	for _, m := range regexp.MustCompile(`(?m)^  (\w+):\s*\n(?:    .*\n)*?    permalink:\s*["']?([^"'\s]+)`).FindAllStringSubmatch(text, -1) {
		link, of := strings.CutSuffix(m[2], ":path/")
		if !of {
			if link, of = strings.CutSuffix(m[2], ":path"); !of {
				continue
			}
		}
		c.add("_"+m[1], strings.TrimRight(base, "/")+inPath(strings.ReplaceAll(link, ":collection", m[1])), st)
	}
}

func (c *config) astro(text string) {
	base := c.site(field(text, "site")) + inPath(field(text, "base"))
	c.add("src/content/docs", base, style{ending: "/", lower: true, groups: true, fields: fields{below: "slug"}})
	c.add("src/pages", base, style{ending: "/"})
}

func (c *config) next(text string) {
	base := c.site("") + inPath(field(text, "basePath"))
	for _, folder := range []string{"app", "src/app"} {
		c.add(folder, base, style{groups: true, pages: true})
	}
	for _, folder := range []string{"pages", "src/pages", "content"} {
		c.add(folder, base, style{groups: true})
	}
}

func (c *config) mdbook(text string) {
	folder := field(text, "src")
	if folder == "" {
		folder = "src"
	}
	base := inPath(field(text, "site-url"))
	if base == "/" {
		base = c.site("")
	}
	c.add(folder, base, style{ending: ".html"})
}

func (c *config) antora(text string) {
	name := field(text, "name")
	if name == "ROOT" {
		name = ""
	}
	modules, _ := fs.ReadDir(c.tree, path.Join(c.folder, "modules"))
	for _, m := range modules {
		module := m.Name()
		if module == "ROOT" {
			module = ""
		}
		c.add(path.Join("modules", m.Name(), "pages"), "*"+inPath(name, module), style{ending: ".html"})
	}
}
