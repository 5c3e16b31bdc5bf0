package agentconfig

import "slices"

// Backups returns the backups that docsearch made of the files of all clients in a scope.
func Backups(claude *Claude, p *Places, s Scope) (found []string) {
	for _, path := range []string{claude.Settings(s), claude.Servers(s)} {
		found = append(found, BackupsOf(path)...)
	}
	for _, c := range Clients() {
		if c.IsClaude() {
			continue
		}
		for _, part := range c.parts(p, s) {
			found = append(found, BackupsOf(part.path)...)
		}
	}
	return found
}

// BackupsOf returns the backups that docsearch made of a file.
func BackupsOf(path string) []string { return slices.Collect((&Change{Path: path}).backups()) }
