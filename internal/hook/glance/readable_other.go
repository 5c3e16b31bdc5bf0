//go:build !linux && !darwin

package glance

import "time"

// readable reports that nobody knows whether a read would return at once.
func readable(time.Duration) bool { return false }
