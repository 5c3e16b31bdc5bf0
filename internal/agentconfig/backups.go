package agentconfig

// Backups returns the backups that docsearch made of the files of all clients in a scope.
func Backups(claude *Claude, p *Places, s Scope) []string {
	paths := []string{claude.Settings(s), claude.Servers(s)}
	for _, c := range Clients() {
		if c.IsClaude() || s == Local { // only Claude Code has that scope
			continue
		}
		for _, part := range c.parts(p, s) {
			paths = append(paths, part.path)
		}
	}
	var found []string
	for _, path := range paths {
		for backup := range (&Change{Path: path}).backups() {
			found = append(found, backup)
		}
	}
	return found
}
