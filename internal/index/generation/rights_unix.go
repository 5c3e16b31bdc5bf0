//go:build !windows

package generation

import (
	"io/fs"
	"os"
	"syscall"
)

// ofOwnGroup reports whether a file is of the group that new files belong to.
func ofOwnGroup(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Gid) == os.Getegid()
}
