//go:build !windows

package terminal

import "os"

// enableColors does nothing: Unix terminals interpret color sequences.
func enableColors(*os.File) bool { return true }
