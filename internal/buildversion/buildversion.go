// Package buildversion returns the version of a program of this module.
package buildversion

import "runtime/debug"

// Of returns the version of this program: linked, which release builds set with
// -ldflags "-X main.version=v1.2.3", or the version that the go command recorded.
func Of(linked string) string {
	info, _ := debug.ReadBuildInfo()
	return of(linked, info)
}

func of(linked string, info *debug.BuildInfo) string {
	if linked != "" {
		return linked
	}
	if info != nil && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
