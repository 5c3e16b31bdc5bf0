package agentconfig

import (
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/plugin"
)

// modulesVersion is the first tested version of Claude Code with hooks modules.
var modulesVersion = Version{2, 1, 328}

// HasModules reports whether the version of Claude Code runs hooks modules. An unknown
// version may.
func (c *Claude) HasModules() bool { return !c.Version.before(modulesVersion) }

// KnownModules reports whether the version of Claude Code is known to run hooks modules.
func (c *Claude) KnownModules() bool { return c.Version != Version{} && c.HasModules() }

// InstallModule plans the changes that add the hooks module, which returns answers as
// results. It is a plugin of three files in the user's folder of skills, which Claude
// Code loads without further settings.
func (c *Claude) InstallModule(program Program) ([]*Change, error) {
	return plan(c.moduleParts(), User, putEdit(program))
}

// UninstallModule plans the changes that remove the hooks module.
func (c *Claude) UninstallModule() ([]*Change, error) {
	return plan(c.moduleParts(), User, dropEdit)
}

// Module returns the program that the installed hooks module runs, or "".
func (c *Claude) Module() string {
	parts := c.moduleParts()
	last := parts[len(parts)-1]
	data, _, err := readFile(last.path)
	if err != nil || data == nil {
		return ""
	}
	return programIn(last.entries, data).Hook
}

// moduleParts are the files of the hooks module. The module itself is the last one.
func (c *Claude) moduleParts() []part {
	dir := filepath.Join(c.settings, "skills", "docsearch")
	fixed := func(text string) []entry {
		return []entry{ownFile{
			render: func(string) string { return text },
			read: func(data []byte) []Hook {
				if string(data) != text {
					return nil
				}
				return []Hook{}
			},
		}}
	}
	return []part{
		{"the hooks module", filepath.Join(dir, ".claude-plugin", "plugin.json"), fixed(`{
  "name": "docsearch",
  "description": "Returns answers from local documentation as results of web searches. Written by docsearch install.",
  "hooks": "./hooks.json"
}
`)},
		{"the hooks module", filepath.Join(dir, "hooks.json"), fixed(`{
  "modules": ["./register.ts"],
  "hooks": {}
}
`)},
		{"the hooks module", filepath.Join(dir, "register.ts"), []entry{c.moduleFile()}},
	}
}

// moduleFile is the hooks module as a file. With the command line in place of the server, it
// passes the flag for that.
func (c *Claude) moduleFile() ownFile {
	form := func(text string) ownFile { return scriptFile(text, "const PROGRAM: string = ", " hook") }
	file := form(plugin.Module)
	other := form(strings.Replace(plugin.Module, "[program, 'hook']", "[program, 'hook', '--cli']", 1))
	if c.CLI {
		file, other = other, file
	}
	file.other = &other
	return file
}
