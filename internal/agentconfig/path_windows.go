package agentconfig

import (
	"strings"

	"golang.org/x/sys/windows"
)

// plainPath returns a path that needs no quotes, if one exists: PowerShell treats
// a quoted path as a string, not as a command. The file name stays the same.
func plainPath(path string) string {
	end := strings.LastIndexByte(path, '\\') + 1
	folder, name := path[:end], path[end:]
	if !strings.ContainsAny(folder, " '&()") {
		return path
	}
	long, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return path
	}
	short := make([]uint16, windows.MAX_PATH)
	n, err := windows.GetShortPathName(long, &short[0], uint32(len(short)))
	if err != nil || n == 0 || int(n) >= len(short) {
		return path
	}
	return windows.UTF16ToString(short[:n]) + name
}
