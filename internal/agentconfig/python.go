package agentconfig

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// The Python version of the hook, docsearch.py, denies calls on its own account. Each of
// the two denies retries that the other lets run, so only one may be in the settings.
// Install moves the entries of the Python version to a file next to the settings, from
// which uninstall puts them back.

// Managed is the scope of settings that an administrator has set.
const Managed Scope = "managed"

// managedSettings returns the files with managed settings.
func managedSettings() []string {
	dir := "/etc/claude-code"
	switch runtime.GOOS {
	case "windows":
		dir = filepath.Join(cmp.Or(os.Getenv("ProgramFiles"), `C:\Program Files`), "ClaudeCode")
	case "darwin":
		dir = "/Library/Application Support/ClaudeCode"
	}
	more, _ := filepath.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))
	return append([]string{filepath.Join(dir, "managed-settings.json")}, more...)
}

// Replaceable reports whether ReplacePython moves the entry.
func (h *Hook) Replaceable() bool {
	return h.Python && h.OtherCommand == "" && h.Plugin == "" && h.Scope != Managed
}

// ReplacePython plans the changes that move the Python version of the hook out of the
// settings of all scopes. The copy of the entries comes before the settings without them.
func (c *Claude) ReplacePython() ([]*Change, error) {
	var changes []*Change
	for _, path := range c.settingsFiles() {
		data, _, err := readFile(path)
		if err != nil || data == nil {
			continue // not docsearch's concern
		}
		d, err := parse(data)
		if err != nil || len(takePython(d)) == 0 {
			continue
		}
		changes = append(changes,
			&Change{Path: replacedPath(path), Subject: "the Python version of the hook", newMode: 0o600, written: always, edit: edit{apply: addReplaced(path)}},
			&Change{Path: path, Subject: "the Python version of the hook", edit: edit{apply: onJSON(func(d *inplace.Document) error {
				takePython(d)
				return nil
			})}})
	}
	return prepareAll(changes)
}

// RestorePython plans the changes that put the Python version of the hook back when
// docsearch is removed from a scope. There are none if docsearch's hook stays in another
// one.
func (c *Claude) RestorePython(s Scope) ([]*Change, error) {
	if c.staysInstalled(s) {
		return nil, nil
	}
	var changes []*Change
	for _, path := range c.settingsFiles() {
		replaced := replacedPath(path)
		if !exists(replaced) {
			continue
		}
		changes = append(changes,
			&Change{Path: path, Subject: "the Python version of the hook", newMode: 0o600, edit: edit{apply: onJSON(func(d *inplace.Document) error { return putReplaced(d, replaced) })}},
			&Change{Path: replaced, Subject: "the Python version of the hook", edit: edit{apply: func([]byte) ([]byte, error) { return nil, nil }}})
	}
	return prepareAll(changes)
}

// staysInstalled reports whether docsearch's hook is in the plugin or in a scope other than
// s.
func (c *Claude) staysInstalled(s Scope) bool {
	return c.Plugin() != "" || slices.ContainsFunc(c.Installed().Hooks, func(h Hook) bool { return h.Scope != s && !h.Python })
}

// settingsFiles returns the settings files that docsearch changes, each once.
func (c *Claude) settingsFiles() []string {
	var paths []string
	for _, s := range Scopes {
		if path := c.Settings(s); !slices.Contains(paths, path) { // in the home directory, two are the same
			paths = append(paths, path)
		}
	}
	return paths
}

// replacedPath returns the path of the file with the entries that were moved out of a
// settings file. It has the layout of settings.
func replacedPath(settings string) string { return settings + ".replaced-by-docsearch" }

func always([]byte) bool { return true }

// addReplaced returns an edit that adds the entries of the Python version in a settings
// file.
func addReplaced(settings string) func([]byte) ([]byte, error) {
	return onJSON(func(to *inplace.Document) error {
		data, _, err := readFile(settings)
		if err != nil {
			return err
		}
		from, err := parse(data)
		if err != nil {
			return err
		}
		return putGroups(to, takePython(from))
	})
}

// putReplaced puts the entries in a file back into a settings document.
func putReplaced(d *inplace.Document, path string) error {
	data, _, err := readFile(path)
	if err != nil {
		return err
	}
	from, err := parse(data)
	if err != nil {
		return err
	}
	return putGroups(d, takePython(from))
}

// A takenGroup is an entry of the Python version with its matcher, as JSON.
type takenGroup struct{ event, json string }

// takePython removes the entries of the Python version from a settings document. It leaves
// those that also run another command.
func takePython(d *inplace.Document) (taken []takenGroup) {
	entries, err := hookEntries(d)
	if err != nil {
		return nil
	}
	isTaken := func(h *hookEntry) bool { return h.python && h.otherCommand == "" }
	for _, h := range entries {
		if isTaken(h) {
			taken = append(taken, takenGroup{h.event, string(groupOf(h.matcher, h.handler.JSON()))})
		}
	}
	if len(taken) > 0 {
		err = dropHooks(d, isTaken)
	}
	if err != nil {
		return nil
	}
	return taken
}

// putGroups adds entries to a settings document, unless it has them.
func putGroups(d *inplace.Document, groups []takenGroup) error {
	have := map[takenGroup]bool{}
	entries, err := hookEntries(d)
	if err != nil {
		return err
	}
	for _, h := range entries {
		have[takenGroup{h.event, string(groupOf(h.matcher, h.handler.JSON()))}] = true
	}
	for _, g := range groups {
		if have[g] {
			continue
		}
		if err := appendGroup(d, g.event, json.RawMessage(g.json)); err != nil {
			return err
		}
	}
	return nil
}

// withoutPython returns an edit that first removes the Python version, as ReplacePython
// does before an install.
func withoutPython(apply func([]byte) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		without, err := onJSON(func(d *inplace.Document) error {
			takePython(d)
			return nil
		})(data)
		if err != nil {
			return nil, err
		}
		return apply(without)
	}
}
