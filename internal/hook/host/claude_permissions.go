package host

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// Permissions are the calls that Claude Code's settings allow and deny an agent, and the
// tools that the definition of a subagent gives it.
type Permissions struct {
	allow, deny []string
	tools       []string // nil: all
	disallowed  []string
}

// PermissionsOf returns the permissions of the agent that sends an event: from the settings
// of the user, of the project, and of the user for this project, and from the file of a
// subagent that has its name, of an installed plugin for one named "plugin:name". Other hosts
// have none.
func PermissionsOf(e *event.Event, getenv config.Getenv) (p Permissions) {
	if e.Host != event.Claude {
		return p
	}
	session := projectFolder(getenv, e.Cwd)
	project := config.Join(session, ".claude")
	user := getenv("CLAUDE_CONFIG_DIR")
	if home := config.Home(getenv); user == "" && home != "" {
		user = config.Join(home, ".claude")
	}
	folders := slices.DeleteFunc([]string{project, user}, func(dir string) bool { return !config.IsAbs(dir) })
	for _, dir := range folders {
		p.addSettings(config.Join(dir, "settings.json"))
		if dir == project {
			p.addSettings(config.Join(dir, "settings.local.json"))
		}
	}
	if e.AgentType == "" || strings.ContainsAny(e.AgentType, `/\`) || strings.Contains(e.AgentType, "..") {
		return p
	}
	agent := e.AgentType
	if plugin, inPlugin, ok := strings.Cut(agent, ":"); ok {
		folders, agent = pluginFolders(user, plugin, session), inPlugin
	}
	path := append([]string{"agents"}, strings.Split(agent+".md", ":")...) // with subfolders
	for _, dir := range folders {
		if p.readAgent(config.Join(dir, path...)) {
			break
		}
	}
	return p
}

// pluginFolders returns the folders of the installed plugins with a name: one for the project
// first, then those for all projects. They are in Claude Code's list in the user's folder of
// settings, by plugin ID (name and marketplace).
func pluginFolders(user, name, project string) (folders []string) {
	if !config.IsAbs(user) {
		return nil
	}
	plugins, err := rawjson.Object(readSettings(config.Join(user, "plugins", "installed_plugins.json")).Raw("plugins"))
	if err != nil {
		return nil
	}
	for _, plugin := range plugins {
		if id, _, _ := strings.Cut(plugin.Name, "@"); id != name {
			continue
		}
		installs, err := rawjson.List(plugin.Value)
		if err != nil { // the first format of the list
			installs = [][]byte{plugin.Value}
		}
		for _, install := range installs {
			fields, err := rawjson.Object(install)
			dir := fields.String("installPath")
			switch p := fields.String("projectPath"); {
			case err != nil || !config.IsAbs(dir):
			case p == "":
				folders = append(folders, dir)
			case p == project:
				folders = slices.Insert(folders, 0, dir)
			}
		}
	}
	return folders
}

func (p *Permissions) addSettings(path string) {
	permissions, err := rawjson.Object(readSettings(path).Raw("permissions"))
	if err != nil {
		return
	}
	p.allow = append(p.allow, permissions.Strings("allow")...)
	p.deny = append(p.deny, permissions.Strings("deny")...)
}

// maxAgent is the maximum size of the definition of a subagent in bytes.
const maxAgent = 1 << 20

// readAgent reads the tools from the definition of a subagent: a list in its front matter,
// of names that are separated by commas or on lines of their own. It reports whether there
// is a definition.
func (p *Permissions) readAgent(path string) bool {
	data, err := atomicfile.Read(path, maxAgent)
	if err != nil {
		return false
	}
	head, _, ok := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "---\n"), "\n---")
	if !ok {
		return true
	}
	var list *[]string
	for line := range strings.SplitSeq(head, "\n") {
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && list != nil {
			*list = append(*list, names(item)...)
			continue
		}
		list = nil
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "tools":
			list, p.tools = &p.tools, append([]string{}, names(value)...)
		case "disallowedTools":
			list, p.disallowed = &p.disallowed, names(value)
		}
	}
	return true
}

// names returns the names in a list of YAML, or separated by commas.
func names(value string) (names []string) {
	for name := range strings.SplitSeq(strings.Trim(strings.TrimSpace(value), "[]"), ",") {
		if name = strings.Trim(strings.TrimSpace(name), `"'`); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Withholds reports whether the agent lacks an MCP tool ("mcp__server__tool").
func (p *Permissions) Withholds(tool string) bool {
	server, ok := config.ServerName(tool)
	if !ok {
		return false
	}
	matches := func(rule string) bool {
		return rule == tool || rule == "mcp__"+server || rule == "mcp__"+server+"__*"
	}
	return slices.ContainsFunc(p.deny, matches) || slices.ContainsFunc(p.disallowed, matches) ||
		p.tools != nil && !slices.ContainsFunc(p.tools, func(t string) bool { return t == "*" || matches(t) })
}

// Runs reports whether the agent may run a shell command that starts with words. If asks is
// not set, nobody is asked, so a rule must allow it.
func (p *Permissions) Runs(words string, asks bool) bool {
	matches := func(rule string) bool { return matchesCommand(rule, words) }
	isBash := func(tool string) bool { return tool == "*" || strings.HasPrefix(tool, event.Bash) }
	return !slices.ContainsFunc(p.deny, matches) && !slices.ContainsFunc(p.disallowed, matches) &&
		(p.tools == nil || slices.ContainsFunc(p.tools, isBash)) && (asks || slices.ContainsFunc(p.allow, matches))
}

// matchesCommand reports whether a rule is for all shell commands that start with words.
func matchesCommand(rule, words string) bool {
	rest, ok := strings.CutPrefix(rule, event.Bash)
	if !ok || rest == "" {
		return ok
	}
	pattern, ok := strings.CutPrefix(strings.TrimSuffix(rest, "*)"), "(")
	if !ok || !strings.HasSuffix(rest, "*)") {
		return false
	}
	if prefix, ok := strings.CutSuffix(pattern, ":"); ok {
		pattern = prefix + " "
	}
	return strings.HasPrefix(words+" ", pattern)
}
