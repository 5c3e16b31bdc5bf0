//go:build !windows

package remote

import "io/fs"

// exposed reports whether other users can access a file with these permissions.
func exposed(mode fs.FileMode) bool { return mode&0o077 != 0 }
