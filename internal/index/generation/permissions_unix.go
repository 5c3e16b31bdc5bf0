//go:build !windows

package generation

import (
	"io/fs"
	"os"
	"syscall"
)

// inOwnGroup reports whether a file belongs to the group of new files.
func inOwnGroup(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Gid) == os.Getegid()
}
