package config

import (
	"os"
	"syscall"
)

func identity(st os.FileInfo) (inode, change int64) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return int64(s.Ino), s.Ctim.Nano()
}
