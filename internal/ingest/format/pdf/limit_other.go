//go:build !linux && !darwin && !windows

package pdf

import "time"

var started = time.Now()

// limitMemory does nothing: limits differ between the other systems.
func limitMemory() {}

// processorTime returns the time since the start of this process, which is at least its
// processor time.
func processorTime() time.Duration { return time.Since(started) }
