// Package decode converts the decoded values of a JSON, YAML or TOML file to a Config or
// to rules, and reports problems in them.
package decode

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// A Problem is an invalid or suspicious part of a config file.
type Problem struct {
	Line     int    // 1-based; 0 if unknown
	Entry    string // `databases[0] (gitlab)`, `hook`; empty for the file as a whole
	Field    string // empty for the entry as a whole
	Expected string
	Got      string
	Effect   string // consequence for the user
	// Unknown is "key" or "variable" if the field is none that docsearch knows. It is ignored,
	// and Expected is a sentence that helps.
	Unknown string
}

// String returns the problem on one line, without the file's name.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	for _, where := range []string{p.Entry, p.Field} {
		if where != "" {
			b.WriteString(where + ": ")
		}
	}
	if p.Unknown != "" {
		b.WriteString("unknown " + p.Unknown + ", ignored; " + p.Expected)
		return b.String()
	}
	b.WriteString("want " + p.Expected)
	if p.Got != "" {
		b.WriteString(", got " + p.Got)
	}
	if p.Effect != "" {
		b.WriteString("; " + p.Effect)
	}
	return b.String()
}

// Settings are the decoded contents of a JSON, YAML or TOML config file.
type Settings struct {
	Values map[string]any
	// Line returns the line of the value at a path such as "databases[0].path", or 0 if
	// the file does not contain it.
	Line func(path string) int
	Dir  string // base of relative paths
	Home string
	// Sections are the undecoded sections that other parts of the program read, as JSON.
	Sections map[string]config.Raw
}

// Config converts settings to a Config. Invalid values are omitted or replaced by their
// defaults, and reported as problems.
func Config(s Settings) (config.Config, []Problem) {
	d := decoder{Settings: s, config: config.Default()}
	d.reportUnknown("", "", s.Values, "databases", "hook", "search", "routes", "route_files", "inject", "update",
		"embedder", "servers", "publishers", "catalogs")
	d.databases(s.Values["databases"])
	d.hook(s.Values["hook"])
	d.search(s.Values["search"])
	d.inject(s.Values["inject"])
	d.boolField(d.section("update", s.Values["update"], "on_session_start"), "update", "on_session_start",
		&d.config.Update.OnSessionStart)
	d.embedders(s.Values["embedder"])
	d.config.Publishers = d.topList("publishers", `a list of public keys, as in "docs.example.com+1a2b3c4d+…"`,
		isPublicKey)
	d.config.Catalogs = d.topList("catalogs", `a list of files, https URLs or "oci://" references`,
		func(string) bool { return true })
	d.remotes(s.Values["servers"])
	d.config.Routes = s.Sections["routes"]
	d.routeFiles(s.Values["route_files"])
	return d.config, d.problems
}

type decoder struct {
	Settings
	config   config.Config
	problems []Problem
}

func (d *decoder) report(path string, p Problem) {
	p.Line = d.Line(path)
	d.problems = append(d.problems, p)
}

func (d *decoder) databases(v any) {
	if v == nil {
		return
	}
	list, ok := v.([]any)
	if !ok {
		d.report("databases", Problem{Entry: "databases", Expected: "a list of databases", Got: describe(v),
			Effect: "no databases"})
		return
	}
	for i, item := range list {
		path := "databases[" + strconv.Itoa(i) + "]"
		db, ok := d.database(path, item)
		if !ok {
			continue
		}
		db.Entry = i
		if db.Cluster == nil {
			d.config.Databases = append(d.config.Databases, db)
		} else {
			d.config.Clustered = append(d.config.Clustered, db)
		}
	}
	d.assignNames()
}

// database decodes one entry. It returns false if the entry must be ignored.
func (d *decoder) database(path string, v any) (config.Database, bool) {
	const skipped = "the entry is ignored"
	var db config.Database
	m, ok := v.(map[string]any)
	if !ok {
		d.report(path, Problem{Entry: path, Expected: `a database with "keywords", "path" and "description"`,
			Got: describe(v), Effect: skipped})
		return db, false
	}
	entry := path
	if label := entryLabel(m); label != "" {
		entry += " (" + label + ")"
	}
	o := &object{decoder: d, path: path, entry: entry, fields: m, skipped: skipped, usable: true}
	text := func(field, expected string, required bool) string {
		s, ok := m[field].(string)
		s = strings.TrimSpace(s)
		switch {
		case required && s == "":
			o.wrong(field, expected, describe(m[field]))
		case !ok && m[field] != nil:
			o.unexpected(field, expected, describe(m[field]), "ignored")
		}
		return s
	}
	d.reportUnknown(path, entry, m, "name", "keywords", "path", "weaviate", "description", "mcp_tool_name", "urls",
		"mode", "version", "publisher", "inject", "notes", "packages")

	var bad []any
	db.Keywords, bad = stringList(m["keywords"])
	switch {
	case len(db.Keywords) == 0:
		o.wrong("keywords", "a list of one or more words", describe(m["keywords"]))
	case len(bad) > 0:
		o.unexpected("keywords", "only words", describe(bad[0]), "the other items are used")
	}
	if cluster, given := m["weaviate"]; given {
		if db.Cluster = d.cluster(path+".weaviate", entry, cluster); db.Cluster == nil {
			return db, false
		}
		for _, field := range []string{"path", "mcp_tool_name", "publisher", "inject", "notes"} {
			if m[field] != nil {
				o.wrong(field, `none with "weaviate"`, describe(m[field]))
			}
		}
	}
	db.Path = d.path(text("path", "the path of the database", db.Cluster == nil), func(raw, resolved string) {
		o.unexpected("path", "an absolute path", describe(raw), "using "+resolved)
	})
	db.Description = text("description", "a short description of the database", true)
	db.Name = text("name", "a name", false)
	db.Tool = text("mcp_tool_name", `the full name of an MCP tool, as in "mcp__docsearch__search"`, false)
	db.Version = text("version", `the documented version, as in "17.2"`, false)
	db.Publisher = text("publisher", "the name of a publisher", false)
	if urls, given := m["urls"]; given {
		var bad any
		if db.URLs, bad, ok = urlPrefixes(urls); !ok {
			o.unexpected("urls", `a list of URL prefixes, as in "https://docs.gitlab.com/"`, describe(bad),
				"the item is ignored")
		}
	}
	if packages, given := m["packages"]; given {
		if db.Packages, bad = packageIDs(packages); len(bad) > 0 {
			o.unexpected("packages", `a list of packages, as in "node:react"`, describe(bad[0]), "the item is ignored")
		}
	}
	if db.Inject, ok = injectPatterns(m["inject"]); !ok {
		o.unexpected("inject", `true, or patterns of documents as in "conventions/**"`, describe(m["inject"]),
			"no notes are added")
		db.Inject = nil
	}
	db.Notes = d.path(text("notes", "the path of a folder", false), func(raw, resolved string) {
		o.unexpected("notes", "an absolute path", describe(raw), "using "+resolved)
	})
	if db.Notes != "" && m["inject"] == nil {
		db.Inject = []string{config.All}
	}
	db.Mode = config.Mode(strings.ToLower(text("mode", `"answer", "redirect", "advise" or "off"`, false)))
	switch db.Mode {
	case "", config.ModeAnswer, config.ModeRedirect, config.ModeAdvise, config.ModeOff:
	default:
		o.unexpected("mode", `"answer", "redirect", "advise" or "off"`, describe(m["mode"]), "using the default")
		db.Mode = ""
	}
	return db, o.usable
}

// urlPrefixes decodes a list of URL prefixes. If ok is false, bad is what is wrong: an item,
// or the list if it is empty.
func urlPrefixes(v any) (urls []string, bad any, ok bool) {
	urls, wrong := stringList(v)
	for _, u := range urls {
		if config.Host(u) == "" {
			wrong = append(wrong, u)
		}
	}
	switch {
	case len(wrong) > 0:
		return urls, wrong[0], false
	case len(urls) == 0:
		return nil, v, false
	}
	return urls, nil, true
}

// packageIDs decodes a list of packages, each with its ecosystem.
func packageIDs(v any) (packages []string, bad []any) {
	packages, bad = stringList(v)
	packages = slices.DeleteFunc(packages, func(p string) bool {
		ecosystem, name, _ := strings.Cut(p, ":")
		wrong := ecosystem == "" || name == ""
		if wrong {
			bad = append(bad, p)
		}
		return wrong
	})
	return packages, bad
}

// routeFiles decodes the paths of further rule files.
func (d *decoder) routeFiles(v any) {
	if v == nil {
		return
	}
	paths, bad := d.words(v)
	for i, raw := range paths {
		paths[i] = d.path(raw, func(raw, resolved string) {
			d.report("route_files", Problem{Entry: "route_files", Expected: "an absolute path", Got: describe(raw),
				Effect: "using " + resolved})
		})
	}
	d.config.RouteFiles = paths
	if len(bad) > 0 {
		d.report("route_files", Problem{Entry: "route_files", Expected: "paths of files and folders",
			Got: describe(bad[0]), Effect: "the other items are used"})
	}
}

// path resolves the path of a database, a model or a rule file.
func (d *decoder) path(raw string, relative func(raw, resolved string)) string {
	path := config.Expand(raw, d.Home)
	if path == "" || config.IsAbs(path) {
		return path
	}
	path = config.Join(d.Dir, path)
	relative(raw, path)
	return path
}

// assignNames gives every database a unique name: the configured one, or else its first
// keyword, with a number if necessary.
func (d *decoder) assignNames() {
	taken := map[string]bool{}
	var dbs []*config.Database
	for _, list := range [][]config.Database{d.config.Databases, d.config.Clustered} {
		for i := range list {
			dbs = append(dbs, &list[i])
		}
	}
	slices.SortFunc(dbs, func(a, b *config.Database) int { return a.Entry - b.Entry })
	for _, db := range dbs {
		if db.Name == "" {
			continue
		}
		if taken[db.Name] {
			path := "databases[" + strconv.Itoa(db.Entry) + "]"
			d.report(path+".name", Problem{
				Entry: path + " (" + db.Name + ")", Field: "name",
				Expected: "a unique name", Got: strconv.Quote(db.Name), Effect: "using another name",
			})
			db.Name = ""
		}
		taken[db.Name] = true
	}
	for _, db := range dbs {
		if db.Name != "" {
			continue
		}
		name := db.Keyword()
		for n := 2; taken[name]; n++ {
			name = db.Keyword() + "-" + strconv.Itoa(n)
		}
		taken[name] = true
		db.Name = name
	}
}

// SearchToolName describes the names that docsearch's search tool can have.
const SearchToolName = `the full name of docsearch's own search tool, as in "mcp__docsearch__search"`

func (d *decoder) hook(v any) {
	m := d.section("hook", v, "retry", "timeout_ms", "mcp_tool_name", "log", "log_queries", "adapt")
	h := &d.config.Hook
	if v, given := m["retry"]; given {
		s, _ := v.(string)
		switch r := config.Retry(strings.ToLower(s)); r {
		case config.RetryIdentical, config.RetryEvidence:
			h.Retry = r
		default:
			d.report("hook.retry", Problem{Entry: "hook", Field: "retry", Expected: `"identical" or "evidence"`,
				Got: describe(v), Effect: `using "` + string(h.Retry) + `"`})
		}
	}
	d.intField(m, "hook", "timeout_ms", 1, config.MaxTimeoutMS, &h.TimeoutMS)
	d.boolField(m, "hook", "log", &h.Log)
	d.boolField(m, "hook", "log_queries", &h.LogQueries)
	d.boolField(m, "hook", "adapt", &h.Adapt)
	if v, given := m["mcp_tool_name"]; given {
		s, _ := v.(string)
		if h.Tool = strings.TrimSpace(s); !config.IsSearchTool(h.Tool) {
			h.Tool = ""
			d.report("hook.mcp_tool_name",
				Problem{Entry: "hook", Field: "mcp_tool_name", Expected: SearchToolName, Got: describe(v),
					Effect: "using the derived name"})
		}
	}
}

func (d *decoder) search(v any) {
	m := d.section("search", v, "top_k", "max_tokens", "max_age_days")
	d.intField(m, "search", "top_k", 1, 100, &d.config.Search.TopK)
	d.intField(m, "search", "max_tokens", 200, 25_000, &d.config.Search.MaxTokens)
	d.intField(m, "search", "max_age_days", 0, 36_500, &d.config.Search.MaxAgeDays)
}

// topList decodes a list of strings at the top level. It omits and reports those that are
// not valid.
func (d *decoder) topList(key, expected string, valid func(string) bool) []string {
	v, given := d.Values[key]
	if !given {
		return nil
	}
	list, bad := stringList(v)
	kept := slices.DeleteFunc(list, func(s string) bool {
		if !valid(s) {
			bad = append(bad, s)
		}
		return !valid(s)
	})
	if items, ok := v.([]any); len(bad) > 0 && !(ok && len(items) == 0) {
		d.report(key, Problem{Entry: key, Expected: expected, Got: describe(bad[0]), Effect: "the item is ignored"})
	}
	return kept
}

// isPublicKey reports whether s has the form NAME+HASH+KEY. Package pack checks the key
// itself.
func isPublicKey(s string) bool {
	name, rest, _ := strings.Cut(s, "+")
	hash, key, found := strings.Cut(rest, "+")
	return found && name != "" && len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == "" && key != "" &&
		!strings.ContainsAny(s, " \t\n")
}

func (d *decoder) section(name string, v any, fields ...string) map[string]any {
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		d.report(name, Problem{Entry: name, Expected: "an object", Got: describe(v), Effect: "using the defaults"})
	}
	d.reportUnknown(name, name, m, fields...)
	return m
}

func (d *decoder) intField(m map[string]any, section, field string, low, high int, to *int) {
	setField(d, m, section, field, fmt.Sprintf("a whole number from %d to %d", low, high), to, func(v any) (int, bool) {
		n, ok := integer(v)
		return n, ok && low <= n && n <= high
	})
}

func (d *decoder) boolField(m map[string]any, section, field string, to *bool) {
	setField(d, m, section, field, "true or false", to, func(v any) (bool, bool) {
		b, ok := v.(bool)
		return b, ok
	})
}

// setField sets a value from the field of a section, if that is given and valid.
func setField[T any](d *decoder, m map[string]any, section, field, expected string, to *T,
	convert func(any) (T, bool)) {
	v, given := m[field]
	if !given {
		return
	}
	if converted, ok := convert(v); ok {
		*to = converted
		return
	}
	d.report(section+"."+field, Problem{Entry: section, Field: field, Expected: expected, Got: describe(v),
		Effect: "using " + describe(*to)})
}

// reportUnknown reports the unknown keys of m.
func (d *decoder) reportUnknown(path, entry string, m map[string]any, keys ...string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(keys, key) {
			continue
		}
		expected := knownKey(key, keys)
		at := key
		if path != "" {
			at = path + "." + key
		}
		if quoted := strconv.Quote(key); quoted != `"`+key+`"` {
			key = quoted
		}
		d.report(at, Problem{Entry: entry, Field: key, Expected: expected, Unknown: "key"})
	}
}

// knownKey says what to write in place of an unknown key.
func knownKey(key string, keys []string) string {
	if near := Nearest(key, keys); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "want one of " + strings.Join(keys, ", ")
}

// entryLabel returns a label for a database entry, even an invalid one.
func entryLabel(m map[string]any) string {
	if s, ok := m["name"].(string); ok && s != "" {
		return s
	}
	if words, _ := stringList(m["keywords"]); len(words) > 0 {
		return words[0]
	}
	return ""
}

// stringList converts a list of strings, or a single string, to a list. Blank strings and
// values of other types are returned in bad.
func stringList(v any) (list []string, bad []any) {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	for _, item := range items {
		s, ok := item.(string)
		if s = strings.TrimSpace(s); !ok || s == "" {
			bad = append(bad, item)
			continue
		}
		list = append(list, s)
	}
	return list, bad
}

// integer converts a whole number as decoded from any of the three formats.
func integer(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case int64:
		return int(v), int64(int(v)) == v
	case uint64:
		return int(v), v <= math.MaxInt32
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32
	}
	return 0, false
}

// describe describes a value for a message.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		const most = 60
		if len(v) > most {
			v = strings.ToValidUTF8(v[:most], "") + "..."
		}
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return "a list"
	case map[string]any, map[any]any:
		return "an object"
	}
	return fmt.Sprint(v)
}
