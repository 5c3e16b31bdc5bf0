package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/rules"
	"github.com/docsearch/docsearch/internal/rules/pattern"
)

// Routes are the active rules of a place.
type Routes struct {
	Place config.RoutesPlace
	Rules []config.Rule // in evaluation order
	// Overruled are rules that are ignored because an earlier one has their name.
	Overruled []config.Rule
	Files     []string // rule files, including those that could not be read
	Problems  []string // without those of the config file, which are in Result
	Late      bool     // rules are missing, because the time did not suffice

	user, project *Routes // the parts of the rules of LoadRoutes; else nil

	sources []config.Stamp
	origins map[string]string     // of the rules, by name
	seen    map[string]bool       // files and folders already read
	known   map[config.Stamp]bool // of the files that the user's rules come from
	addedTo int64                 // Sum of the user's snapshot; 0: these are the user's rules
	unread  bool                  // a file could not be read, which its stamp does not show
	bounds  *bounds               // of the files of a project; nil: of the user
}

// LoadRoutes reads the rules that apply in a place: LoadUserRoutes, then LoadProjectRoutes.
func LoadRoutes(r *Result, place config.RoutesPlace) *Routes {
	var c *config.Config
	if r != nil {
		c = &r.Config
	}
	user := LoadUserRoutes(r, place)
	project := LoadProjectRoutes(user.Snapshot(), c, place, time.Time{})
	return &Routes{
		Place: place, user: user, project: project,
		Rules:     slices.Concat(user.Rules, project.Rules),
		Overruled: slices.Concat(user.Overruled, project.Overruled),
		Files:     slices.Concat(user.Files, project.Files),
		Problems:  slices.Concat(user.Problems, project.Problems),
	}
}

// LoadUserRoutes reads the rules of the user and of plugins, which apply whatever the files
// of a project contain: the rules of the config file, which are in its Result (nil if it
// cannot be read), and of the files that it names, then those of the plugin that runs this
// hook, and of the other plugins that the user has enabled, by name:
//
//	the config's "routes"
//	the config's "route_files"
//	<plugin>/hooks/tool-routes.json, .yaml
//	<plugin>/.claude-plugin/routes.json, which has rules or lists files that do
//
// If several rules have the same name, the first is used. A file that cannot be read is
// reported as a problem, and the others are used.
func LoadUserRoutes(r *Result, place config.RoutesPlace) *Routes {
	s := newRoutes(place.User())
	if r != nil {
		s.sources = append(s.sources, r.stamp)
		s.add(r.rules)
		if len(r.rules) > 0 {
			s.Files = append(s.Files, r.Path)
		}
		s.seen[filepath.Clean(r.Path)] = true // it may be in one of the folders
		for _, path := range r.Config.RouteFiles {
			s.named(path)
		}
	} else if stamp, err := config.StampOf(place.Config); err == nil {
		s.sources = append(s.sources, stamp)
	}
	if place.Plugin != "" {
		s.plugin(place.Plugin)
	}
	s.plugins()
	if r != nil {
		s.checkDatabases(&r.Config)
	}
	return s
}

// LoadProjectRoutes reads the rules that a project adds to those of the user: of plugins
// that it enables, of the files that the environment names, because a project's settings for
// an agent can set variables, and of its own files:
//
//	TOOL_ROUTING_ROUTES
//	<project>/.docsearch/routes.json, .yaml, .yml, .toml
//	<project>/.claude/tool-routes.yaml
//
// Their author may not be trusted: none of the rules can replace one of the user or be tried
// before it, and files beyond the bounds are ignored and reported. So are all files once the
// time is past end, unless it is zero. Without the config, the databases that rules name are
// not checked.
func LoadProjectRoutes(user *config.RoutesSnapshot, c *config.Config, place config.RoutesPlace, end time.Time) *Routes {
	s := newRoutes(place)
	if place == place.User() {
		s.unread = true // it has no snapshot
		return s
	}
	s.bounds = &bounds{bytes: MaxProjectBytes, rules: MaxProjectRules, end: end}
	s.addedTo = user.Sum()
	for _, stamp := range user.Sources {
		s.known[stamp] = true
		if stamp.Exists {
			s.seen[filepath.Clean(stamp.Path)] = true
		}
	}
	for i := range user.Rules {
		s.origins[user.Rules[i].Name] = user.Rules[i].Origin
	}
	s.plugins()
	s.listed(place.Files)
	if place.Project != "" {
		for _, ending := range [...]string{"json", "yaml", "yml", "toml"} {
			s.file(place.Project, filepath.Join(".docsearch", "routes."+ending))
		}
		s.file(place.Project, filepath.Join(".claude", "tool-routes.yaml"))
	}
	if c != nil {
		s.checkDatabases(c)
	}
	return s
}

func newRoutes(place config.RoutesPlace) *Routes {
	return &Routes{Place: place, seen: map[string]bool{}, origins: map[string]string{}, known: map[config.Stamp]bool{}}
}

// Snapshot returns the rules as the hook reads them.
func (s *Routes) Snapshot() *config.RoutesSnapshot {
	return &config.RoutesSnapshot{Place: s.Place, User: s.addedTo, Sources: s.sources, Rules: s.Rules,
		Problems: s.Problems}
}

// checkDatabases reports the rules that name an unknown database.
func (s *Routes) checkDatabases(c *config.Config) {
	for _, rule := range s.Rules {
		named := func(db config.Database) bool { return db.Name == rule.Database }
		if rule.Database != "" && !slices.ContainsFunc(c.Databases, named) {
			s.problem(rule.Origin, decode.Problem{
				Line: rule.Line, Entry: "routes." + rule.Name, Field: "database",
				Expected: "a database name", Got: strconv.Quote(rule.Database), Effect: "the rule does not search",
			})
		}
	}
}

// LoadRouteFiles reads the rules of only these files.
func LoadRouteFiles(paths []string) *Routes {
	s := newRoutes(config.RoutesPlace{})
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			s.Problems = append(s.Problems, "routes "+err.Error())
			continue
		}
		s.file(filepath.Dir(path), filepath.Base(path))
	}
	return s
}

// LoadPluginRoutes reads the rules of only the plugin in a folder.
func LoadPluginRoutes(dir string) *Routes {
	s := newRoutes(config.RoutesPlace{})
	s.plugin(dir)
	return s
}

// add adds the rules whose names are not in use.
func (s *Routes) add(rules []config.Rule) {
	for _, rule := range rules {
		origin, taken := s.origins[rule.Name]
		if !taken {
			s.origins[rule.Name] = rule.Origin
			s.Rules = append(s.Rules, rule)
			continue
		}
		s.Overruled = append(s.Overruled, rule)
		s.problem(rule.Origin, decode.Problem{
			Line: rule.Line, Entry: "routes." + rule.Name, Expected: "a unique rule name",
			Got: "the name of a rule in " + origin, Effect: "the rule is ignored",
		})
	}
}

func (s *Routes) problem(path string, p decode.Problem) {
	s.Problems = append(s.Problems, "routes "+path+": "+p.String())
}

// plugins reads the rules of the enabled plugins, by name.
func (s *Routes) plugins() {
	enabled := s.enabledPlugins()
	for _, id := range slices.Sorted(maps.Keys(enabled)) {
		s.plugin(enabled[id])
	}
}

// plugin reads the rules of the plugin in dir.
func (s *Routes) plugin(dir string) {
	s.file(dir, filepath.Join("hooks", "tool-routes.json"))
	s.file(dir, filepath.Join("hooks", "tool-routes.yaml"))
	s.file(dir, filepath.Join(".claude-plugin", "routes.json"))
}

// file reads the rules of one file in dir, if it exists.
func (s *Routes) file(dir, name string) {
	path := filepath.Join(dir, name)
	if s.seen[path] {
		return
	}
	s.seen[path] = true
	data, ok := s.read(dir, path)
	if !ok {
		return
	}
	s.Files = append(s.Files, path)
	if s.isLate(path) {
		return
	}
	routes, err := parseRoutes(path, data)
	if err != nil {
		s.Problems = append(s.Problems, "routes "+err.Error())
		return
	}
	if names, ok := routes.value.([]any); ok && len(names) > 0 && isStringList(names) {
		for i, name := range names {
			written := name.(string)
			name := filepath.FromSlash(strings.TrimPrefix(written, "./"))
			if !filepath.IsLocal(name) {
				s.problem(path, decode.Problem{
					Line: routes.node.line, Entry: "routes[" + strconv.Itoa(i) + "]",
					Expected: "a file of the plugin", Got: strconv.Quote(written), Effect: "ignored",
				})
				continue
			}
			s.file(dir, name)
		}
		return
	}
	rules, problems, err := decodeRules(path, routes, s.bounds)
	switch {
	case errors.Is(err, errLate):
		s.isLate(path)
		return
	case err != nil:
		s.Problems = append(s.Problems, fmt.Sprintf("routes %s: %v; its rules are ignored", path, err))
		return
	}
	before := len(s.Problems)
	for _, p := range problems {
		s.problem(path, p)
	}
	s.add(rules)
	if most := before + maxProjectProblems; s.bounds != nil && len(s.Problems) > most {
		s.Problems = append(s.Problems[:most], fmt.Sprintf("routes %s: %d more problems", path, len(s.Problems)-most))
	}
}

// read returns a file's contents and records its stamp, also for a missing file, because
// it may be created later.
func (s *Routes) read(dir, path string) ([]byte, bool) {
	stamp, err := config.StampOf(path)
	if err == nil && !stamp.Exists {
		if stamp.Path = config.FirstAbsent(dir, path); !slices.Contains(s.sources, stamp) {
			s.addSource(stamp)
		}
		return nil, false
	}
	var data []byte
	if err == nil {
		s.addSource(stamp)
		if s.bounds != nil && !s.known[stamp] {
			if err := s.bounds.addBytes(stamp.Size); err != nil {
				s.Problems = append(s.Problems, fmt.Sprintf("routes %s: %v; the file is ignored", path, err))
				return nil, false
			}
		}
		data, err = read(path)
	}
	if err != nil {
		s.unread = true
		s.Problems = append(s.Problems, fmt.Sprintf("routes %s: %v", path, err))
	}
	return data, err == nil
}

// addSource records a stamp, unless the user's snapshot has it.
func (s *Routes) addSource(stamp config.Stamp) {
	if !s.known[stamp] {
		s.sources = append(s.sources, stamp)
	}
}

// parseRoutes returns the routes in a file of any of the formats.
func parseRoutes(path string, data []byte) (orderedValue, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return orderedValue{}, nil
	}
	value, root, err := decodeAs(Format(path), data)
	var syntax *SyntaxError
	switch {
	case errors.As(err, &syntax):
		return orderedValue{}, fmt.Errorf("%s%s: %w", path, syntax.position(), syntax.Err)
	case err != nil:
		return orderedValue{}, fmt.Errorf("%s: %w", path, err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return orderedValue{}, fmt.Errorf("%s:1:1: want an object at the top level", path)
	}
	return orderedValue{object["routes"], root.child("routes")}, nil
}

func isStringList(list []any) bool {
	for _, v := range list {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// decodeRules converts a file's routes to rules and omits those with an invalid pattern. An
// error says which of the bounds the file exceeds.
func decodeRules(origin string, routes orderedValue, b *bounds) ([]config.Rule, []decode.Problem, error) {
	if routes.node == nil {
		return nil, nil, nil
	}
	r := decode.Routes{Origin: origin, Value: routes.value, Line: routes.node.lineOf}
	if m, ok := r.Value.(map[string]any); ok {
		r.Names = orderedKeys(routes.node, m)
	}
	rules, problems := decode.Rules(r)
	if err := b.addRules(len(rules)); err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, k := range routes.node.keys {
		if seen[k.name] {
			problems = append(problems, decode.Problem{
				Line: k.line, Entry: "routes." + k.name, Expected: "a unique rule name",
				Got: "a name that is already in the file", Effect: "the last rule is used",
			})
		}
		seen[k.name] = true
	}
	usable := rules[:0]
	for _, rule := range rules {
		if b.late() {
			return nil, nil, errLate
		}
		if field, err := compile(&rule); err != nil {
			problems = append(problems, decode.Problem{
				Line: rule.Line, Entry: "routes." + rule.Name, Field: field,
				Expected: "a regular expression", Got: err.Error(), Effect: "the rule is ignored",
			})
			continue
		}
		usable = append(usable, rule)
	}
	return usable, problems, nil
}

// compile parses the patterns of a rule for the hook. For an error, field is the name of
// the invalid field.
func compile(rule *config.Rule) (field string, err error) {
	compile := func(p *config.Pattern) error {
		if p.Text == "" {
			return nil
		}
		parsed, err := pattern.Parse(p.Text)
		if err != nil {
			return err
		}
		p.Expr, p.Literals, p.Samples = parsed.Expr, parsed.Literals, parsed.Samples
		if slices.ContainsFunc(parsed.Groups, func(name string) bool { return name != "" }) {
			p.Groups = parsed.Groups
		}
		return rules.Check(*p)
	}
	if err := compile(&rule.ToolPattern); err != nil {
		return "tool_pattern", err
	}
	if err := compile(&rule.Pattern); err != nil {
		return "pattern", err
	}
	if err := compile(&rule.CommandPattern); err != nil {
		return "command_pattern", err
	}
	for i := range rule.Unless {
		if err := compile(&rule.Unless[i]); err != nil {
			return "unless", err
		}
	}
	return "", nil
}

// lineOf returns the line of the part of n at a path, or 0 if there is none.
func (n *outline) lineOf(path ...string) int {
	line := n.line
	for _, name := range path {
		index, err := strconv.Atoi(strings.Trim(name, "[]"))
		if err == nil && index < len(n.items) {
			n = n.items[index]
			line = n.line
			continue
		}
		k := n.find(name)
		if k == nil {
			return 0
		}
		n, line = k.value, k.line
	}
	return line
}

// EnabledPlugins returns the folders of the plugins that Claude Code has enabled in a
// place, by plugin ID (name and marketplace).
func EnabledPlugins(place config.RoutesPlace) map[string]string {
	return newRoutes(place).enabledPlugins()
}

// enabledPlugins is EnabledPlugins for s. The settings list the enabled plugins, and the
// plugin list contains their folders.
func (s *Routes) enabledPlugins() map[string]string {
	if s.Place.Claude == "" {
		return nil
	}
	var list struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	if !s.readJSON(s.Place.Claude, filepath.Join(s.Place.Claude, "plugins", "installed_plugins.json"), &list) {
		return nil
	}
	enabled := map[string]bool{}
	settings := []string{filepath.Join(s.Place.Claude, "settings.json")}
	if s.Place.Project != "" {
		settings = append(settings,
			filepath.Join(s.Place.Project, ".claude", "settings.json"),
			filepath.Join(s.Place.Project, ".claude", "settings.local.json"))
	}
	for _, path := range settings {
		var v struct {
			Enabled map[string]any `json:"enabledPlugins"`
		}
		if s.readJSON(filepath.Dir(filepath.Dir(path)), path, &v) {
			for id, on := range v.Enabled {
				enabled[id] = on != false // a list of versions also enables
			}
		}
	}
	dirs := map[string]string{}
	for id, entry := range list.Plugins {
		if dir := s.installPath(entry); enabled[id] && dir != "" {
			dirs[id] = filepath.Clean(dir)
		}
	}
	return dirs
}

// installPath returns the folder of a plugin from its entry in the plugin list: that for
// the project, or else that for all projects.
func (s *Routes) installPath(entry json.RawMessage) string {
	type install struct {
		Path    string `json:"installPath"`
		Project string `json:"projectPath"`
	}
	var installs []install
	if json.Unmarshal(entry, &installs) != nil { // the first format of the list
		installs = make([]install, 1)
		if json.Unmarshal(entry, &installs[0]) != nil {
			return ""
		}
	}
	path := ""
	for _, i := range installs {
		switch {
		case i.Project == "" && path == "":
			path = i.Path
		case i.Project != "" && i.Project == s.Place.Project:
			return i.Path
		}
	}
	return path
}

// readJSON reads a JSON file of Claude Code. It ignores errors, which are for Claude Code
// to report.
func (s *Routes) readJSON(dir, path string, v any) bool {
	data, ok := s.read(dir, path)
	if !ok || isDeep(data) {
		return false
	}
	data, err := hujson.Standardize(data)
	return err == nil && json.Unmarshal(data, v) == nil
}

// isDeep reports whether a JSON text is nested more deeply than any settings. For an error
// that deep, hujson takes a tenth of a millisecond a level.
func isDeep(data []byte) bool {
	const deepest = 200
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > deepest {
			return true
		}
	}
	return false
}

// WriteSnapshot writes the snapshots that save the hook the next load. It does not write one
// if a file could not be read, may have changed since, or may still change without changing
// its stamp.
func (s *Routes) WriteSnapshot(l config.Locations) error {
	if s.user != nil {
		return errors.Join(s.user.WriteSnapshot(l), s.project.WriteSnapshot(l))
	}
	if s.unread {
		return nil
	}
	for _, before := range s.sources {
		now, err := config.StampOf(before.Path)
		if err != nil || now != before || !before.Settled(time.Now()) {
			return err
		}
	}
	RemoveOld(l, "routes")
	return s.Snapshot().Write(l)
}

// KnownPlaces returns the places whose rules the hook has read in the last 30 days
// or so, with the same config file and the same Claude Code settings as here.
func KnownPlaces(l config.Locations, here config.RoutesPlace) []config.RoutesPlace {
	var places []config.RoutesPlace
	paths, _ := filepath.Glob(filepath.Join(l.Cache, "routes-*.snapshot"))
	for _, path := range paths {
		place, err := config.PlaceIn(path)
		if err == nil && place.Project != "" && place.Config == here.Config && place.Claude == here.Claude {
			places = append(places, place)
		}
	}
	return places
}

// RemoveOld removes the snapshots of a kind, "routes" or "project", of places without
// recent sessions.
func RemoveOld(l config.Locations, kind string) {
	const old = 30 * 24 * time.Hour
	entries, _ := os.ReadDir(l.Cache)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), kind+"-") || !strings.HasSuffix(e.Name(), ".snapshot") {
			continue
		}
		if st, err := e.Info(); err == nil && st.Mode().IsRegular() && time.Since(st.ModTime()) > old {
			os.Remove(filepath.Join(l.Cache, e.Name()))
		}
	}
}
