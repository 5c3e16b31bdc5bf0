// Package background starts this program in the background, where it must not disturb the
// user: with the lowest priority, limited processor time, and a log instead of output.
package background

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// LogName is the file in the cache folder with the output of background processes.
const LogName = "update.log"

// Start starts this program with the arguments, and does not wait for it. Its output goes
// to the log in the cache folder.
func Start(cache string, args []string) error {
	log, err := confined.OpenFile(filepath.Join(cache, LogName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detachedProcess()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// EndAfter ends this process after d, if it has not ended before.
func EndAfter(d time.Duration) { time.AfterFunc(d, func() { os.Exit(1) }) }

// EmptyLog truncates the log, which receives the output of this process.
func EmptyLog(cache string) error {
	f, err := confined.OpenFile(filepath.Join(cache, LogName), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(0), f.Close())
}
