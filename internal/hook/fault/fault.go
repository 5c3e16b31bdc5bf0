// Package fault keeps a crash of the hook from being read as a denial: Go's
// own exit code for one is 2.
//
// Nothing calls this package by its name, and whoever imports it does so for
// its effect alone. Package fast needs it before the packages that sort
// between the two are initialised, of which there are thirty, and they take
// longer than the hook's own work; so fast declares the function and the
// linker brings the two together.
package fault

import (
	"runtime/debug"
	_ "unsafe" // for linkname
)

// contain makes a fault in a mapped file, which another process has cut
// short, a panic of this goroutine, and has what Go cannot recover from end
// the process by a signal.
//
//go:linkname contain github.com/docsearch/docsearch/internal/hook/startup.contain
func contain() {
	debug.SetPanicOnFault(true)
	debug.SetTraceback("crash")
}
