package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableColors makes the console understand the sequences for colors, which
// it does only when asked to.
func enableColors(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
