//go:build !linux && !darwin

package pdf

import (
	"os"
	"time"
)

// limitProcess ends the process after that time, even if its parent is gone.
func limitProcess(d time.Duration) {
	time.AfterFunc(d, func() { os.Exit(1) })
}
