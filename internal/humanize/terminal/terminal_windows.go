package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableColors enables color sequences in the console, where they are off by
// default.
func enableColors(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
