//go:build !windows

package agentconfig

// plainPath returns path: sh accepts quoted paths as commands.
func plainPath(path string) string { return path }
