// Package crashguard keeps a crash of the hook from being read as a denial: a Go program
// that crashes exits with code 2, which agents take for one.
//
// The package is imported for its effect alone. Package startup needs its function but
// must not import it: runtime/debug sorts late, so that thirty more packages would be
// initialized before startup, at the cost of 0.9 of an empty program. So startup declares
// the function, and the linker connects the two.
package crashguard

import (
	"runtime/debug"
	_ "unsafe" // for linkname
)

// contain turns a fault in a mapped file that another process has truncated into a panic
// of this goroutine. After it, a crash that Go cannot recover from ends the process by a
// signal.
//
//go:linkname contain github.com/docsearch/docsearch/internal/hook/startup.contain
func contain() {
	debug.SetPanicOnFault(true)
	debug.SetTraceback("crash")
}
