package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableColours makes the console understand the sequences for colours, which
// it does only when asked to.
func enableColours(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
