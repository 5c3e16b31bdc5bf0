//go:build !windows

package main

import "os"

// enableColors does nothing: Unix terminals interpret color sequences.
func enableColors(*os.File) bool { return true }
