//go:build !windows

package agentconfig

// plainPath has nothing to do: sh takes quoted paths for commands.
func plainPath(path string) string { return path }
