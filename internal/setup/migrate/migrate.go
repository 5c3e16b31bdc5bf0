// Package migrate moves the settings of older tools to docsearch: the hooks of docsearch.py, of
// Lore and of the tool-routing plugin, the rules of that plugin, the notes of Lore, and the indexes
// that LEANN has registered. It plans and makes the changes, and undoes them byte for byte.
package migrate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/setup"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A Migration lists what older tools have set up, and plans its replacement.
type Migration struct {
	Hooks     []agentconfig.OlderHook
	Databases []*Database
	Left      []string // for the user to do, with the reason

	claude    *agentconfig.Claude
	locations config.Locations
	config    *load.Result
	rules     []config.Rule
	files     []ruleFile
	lore      *loreConfig
}

// A Database is a database to build and to add to the config.
type Database struct {
	Entry  edit.Entry
	Source string // folder of notes, or LEANN index
	Failed error  // why it could not be built; nil: it was, or is to be
}

// IsNotes reports whether the database contains the notes of a folder.
func (d *Database) IsNotes() bool { return d.Entry.Notes != "" }

// A ruleFile is a file with rules of the tool-routing plugin, and the path of its copy.
type ruleFile struct{ from, to string }

// RulesFolder returns the folder of the copied rules, next to the config file.
func RulesFolder(l config.Locations) string {
	return filepath.Join(filepath.Dir(l.Config), "docsearch-routes")
}

// Find finds what older tools have set up for this user and in the project of the working folder.
func Find(claude *agentconfig.Claude, l config.Locations) (*Migration, error) {
	m := &Migration{claude: claude, locations: l}
	var err error
	if m.config, err = load.Load(l); err != nil {
		return nil, err
	}
	plugins := load.EnabledPlugins(installation.Here(l))
	m.Hooks = claude.OlderHooks(plugins)
	for _, h := range m.Hooks {
		if !h.Movable {
			m.leave("%s has %q, the hook of %s; remove it manually", installation.OlderPlace(h), h.Line, h.Tool)
		} else if h.Tool == agentconfig.ToolRouting {
			m.addRules(h.Folder)
		}
	}
	m.findLore()
	indexes, err := leann.RegisteredIndexes(config.Home(os.Getenv))
	if err != nil {
		m.leave("cannot read LEANN's list of projects: %v", err)
	}
	for _, x := range indexes {
		m.addIndex(x)
	}
	slices.Sort(m.Left)
	m.Left = slices.Compact(m.Left)
	return m, nil
}

// leave adds work for the user.
func (m *Migration) leave(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = usererror.Message(err)
		}
	}
	m.Left = append(m.Left, safetext.Printable(fmt.Sprintf(format, args...)))
}

// addRules plans to copy the rules in the folder of the tool-routing plugin. The rules of other
// plugins stay where they are, because docsearch reads them, too.
func (m *Migration) addRules(folder string) {
	if folder == "" {
		return
	}
	routes := load.LoadPluginRoutes(folder)
	for _, rule := range routes.Rules {
		if slices.ContainsFunc(m.files, func(f ruleFile) bool { return f.from == rule.Origin }) {
			m.rules = append(m.rules, rule)
			continue
		}
		name, err := filepath.Rel(folder, rule.Origin)
		if err != nil {
			continue
		}
		name = "tool-routing-" + strings.ReplaceAll(strings.TrimPrefix(filepath.ToSlash(name), "."), "/", "-")
		to := filepath.Join(RulesFolder(m.locations), name)
		if !slices.ContainsFunc(m.files, func(f ruleFile) bool { return f.to == to }) {
			m.rules = append(m.rules, rule)
			m.files = append(m.files, ruleFile{rule.Origin, to})
		}
	}
}

// addIndex plans a config entry for a LEANN index, unless the config has one.
func (m *Migration) addIndex(x leann.Registered) {
	found, err := leann.Find(x.Path)
	if err != nil {
		m.leave("the LEANN index %s: %v", x.Path, err)
		return
	}
	for i := range m.config.Config.Databases {
		if library.IsEntryOf(&m.config.Config.Databases[i], found.Dir) {
			return
		}
	}
	name := strings.ToLower(library.DatabaseName(x.Name))
	project := strings.ToLower(library.DatabaseName(filepath.Base(x.Project)))
	if _, ambiguous := setup.FindConflict(name); (ambiguous || m.isTaken(name)) && project != name {
		name = project + "-" + name
	}
	name = m.unique(name)
	path := x.Path
	if isSelected(found.Dir) {
		path = found.Dir
	}
	m.Databases = append(m.Databases, &Database{Source: path, Entry: edit.Entry{Keywords: []string{name}, Path: path,
		Description: "LEANN index " + x.Name + " of " + filepath.Base(x.Project)}})
}

// isSelected reports whether the folder of an index selects it without the name of a file.
func isSelected(dir string) bool {
	_, err := leann.Find(dir)
	return err == nil
}

// unique returns a name that no database has: the given one, or one with a number.
func (m *Migration) unique(name string) string {
	unique := name
	for n := 2; m.isTaken(unique); n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	return unique
}

func (m *Migration) isTaken(name string) bool {
	return slices.ContainsFunc(m.config.Config.Databases,
		func(d config.Database) bool { return strings.EqualFold(d.Name, name) }) ||
		slices.ContainsFunc(m.Databases, func(d *Database) bool { return strings.EqualFold(d.Entry.Keywords[0], name) })
}

// Empty reports whether nothing is to migrate.
func (m *Migration) Empty() bool {
	movable := slices.ContainsFunc(m.Hooks, func(h agentconfig.OlderHook) bool { return h.Movable })
	return !movable && len(m.Databases) == 0 && (m.lore == nil || !m.lore.changes())
}

// Coverage returns the events that the hook needs after the migration.
func (m *Migration) Coverage() config.Coverage {
	planned := m.config.Config
	for _, d := range m.Databases {
		db := config.Database{Name: d.Entry.Keywords[0], Keywords: d.Entry.Keywords, Path: d.Entry.Path}
		if d.IsNotes() {
			db.Inject = []string{config.All}
		}
		planned.Databases = append(planned.Databases, db)
	}
	return installation.Coverage(m.locations).Union(
		hook.CoverageOf(&planned, m.rules, m.config.Config.Server(os.Getenv)))
}

// Changes plans the changes of files, each file once: the copies of rules and the config, before
// the hooks that they replace. Databases that could not be built are left out.
func (m *Migration) Changes(program agentconfig.Program) ([]*agentconfig.Change, error) {
	var changes []*agentconfig.Change
	for _, f := range m.files {
		data, err := os.ReadFile(f.from)
		if err != nil {
			return nil, err
		}
		c, err := agentconfig.Rewrite(f.to, "the rules", func([]byte) ([]byte, error) { return data, nil })
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	c, err := agentconfig.Rewrite(m.locations.Config, "the config", m.rewriteConfig)
	if err != nil {
		return nil, err
	}
	changes = append(changes, c)
	settings, err := m.settings(program)
	if err != nil {
		return nil, err
	}
	return agentconfig.Merge(append(changes, settings...))
}

// settings plans the changes of the settings: docsearch's hook in place of those of older tools.
func (m *Migration) settings(program agentconfig.Program) ([]*agentconfig.Change, error) {
	var plugins []string
	for _, h := range m.Hooks {
		if h.Plugin != "" && h.Movable && !slices.Contains(plugins, h.Plugin) {
			plugins = append(plugins, h.Plugin)
		}
	}
	changes, err := m.claude.ReplaceOlder(plugins)
	if err != nil || !m.Installs() {
		return changes, err
	}
	m.claude.Coverage = m.Coverage()
	installs, err := m.claude.Install(agentconfig.User, program)
	return append(changes, installs...), err
}

// Installs reports whether the migration writes docsearch's hook to the user's settings: unless it
// is in those of a project or in a plugin.
func (m *Migration) Installs() bool {
	in := installation.Find(m.claude)
	others, user := false, false
	for _, h := range in.Hooks {
		user = user || h.Scope == agentconfig.User && !h.Python
		others = others || h.Scope != agentconfig.User && !h.Python
	}
	return user || !others && in.Plugin == ""
}

// rewriteConfig returns the contents of the config file after the migration.
func (m *Migration) rewriteConfig(data []byte) ([]byte, error) {
	path := m.locations.Config
	var err error
	if len(m.files) > 0 {
		if data, err = edit.Append(path, data, "route_files", RulesFolder(m.locations)); err != nil {
			return nil, err
		}
	}
	for _, d := range m.Databases {
		if d.Failed != nil {
			continue
		}
		if data, err = edit.Put(path, data, d.Entry); err != nil {
			return nil, err
		}
	}
	if m.lore != nil {
		return m.lore.rewrite(path, data)
	}
	return data, nil
}

// A Step reports progress of Apply.
type Step struct {
	Database *Database           // built, or Failed
	Change   *agentconfig.Change // made
	Backup   string              // copy of the file before the change; "" for a new file
}

// Apply builds the databases and makes the changes. Each is recorded first, so that Undo also
// undoes a migration that was interrupted.
func (m *Migration) Apply(ctx context.Context, program agentconfig.Program,
	build func(context.Context, *Database) error, report func(Step)) error {
	j, err := openJournal()
	if err != nil {
		return err
	}
	for _, d := range m.Databases {
		if err := j.addDatabase(d); err != nil {
			return err
		}
		if d.Failed = build(ctx, d); d.Failed != nil && ctx.Err() != nil {
			return d.Failed
		}
		report(Step{Database: d})
	}
	changes, err := m.Changes(program)
	if err != nil {
		return err
	}
	for _, c := range changes {
		backup, err := j.addFile(c.Path)
		if err != nil {
			return err
		}
		c.WithoutBackup()
		if _, err := c.Apply(); err != nil {
			return fmt.Errorf("cannot change %s: %w", c.Path, err)
		}
		if err := j.recordResult(c.Path); err != nil {
			return err
		}
		report(Step{Change: c, Backup: backup})
	}
	if m.Installs() {
		return installation.RecordEntries(m.locations, &m.claude.Coverage)
	}
	return nil
}

// values returns the members of an object in a decoded file, nil if it is not one.
func values(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
