//go:build !linux && !darwin

package pdf

import (
	"os"
	"time"
)

// limitProcess ends the process after that time, whoever started it may be gone.
func limitProcess(d time.Duration) {
	time.AfterFunc(d, func() { os.Exit(1) })
}
