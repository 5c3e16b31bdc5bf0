package uncached

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/remote"
)

// NoReport is a report function for many searches.
func NoReport(string, ...any) {}

const (
	// refreshLock is the file in the cache folder that a process holds while it makes the
	// snapshots of the hook. It contains the path of the config file, unless they are made.
	refreshLock = "refresh.lock"
	// refreshLimit is the time after which that process gives up.
	refreshLimit = 2 * time.Minute
	// refreshRetry is the time after which another one tries again. A changed config file is
	// tried at once.
	refreshRetry = 10 * time.Minute
)

// A Reading is the config and the rules of a folder, read as the hook does without
// snapshots.
type Reading struct {
	Config *load.Result
	Routes *load.Routes
	took   time.Duration // also to write the snapshots
}

// Read reads the config and the rules of the folder, and writes the snapshots, so that
// the next hook there need not.
func Read(l config.Locations, folder string) (*Reading, error) {
	started := time.Now()
	r, err := load.Load(l)
	if err != nil {
		return nil, err
	}
	hookConfig(l, r, NoReport)
	routes := load.LoadRoutes(r, config.PlaceOf(l, os.Getenv, folder))
	// An error costs the hook time, and no more: it runs without the snapshot, too.
	_ = routes.WriteSnapshot(l)
	return &Reading{r, routes, time.Since(started)}, nil
}

// ReadHere is readForHook for the working directory.
func ReadHere() (*Reading, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return Read(config.Locate(os.Getenv), cwd)
}

// limit returns the hook's time limit.
func (h *Reading) limit() time.Duration {
	return time.Duration(h.Config.Config.Hook.TimeoutMS) * time.Millisecond
}

// Duration describes the time of the hook's first call after a change.
func (h *Reading) Duration() string {
	return fmt.Sprintf("%s, read as the hook does in %s (timeout %s)", humanize.Count(len(h.Routes.Rules), "rule"),
		h.took.Round(time.Millisecond), h.limit())
}

// Slow returns a message if the hook has not enough time for its first call after a change,
// otherwise "".
func (h *Reading) Slow() string {
	if h.took <= h.limit() {
		return ""
	}
	return fmt.Sprintf("the hook takes %s to read the config and %s after a change, longer than its timeout of %s: that call runs as usual, and the hook goes on in the background",
		h.took.Round(time.Millisecond), humanize.Count(len(h.Routes.Rules), "rule"), h.limit())
}

// hookConfig returns the config of the hook, with the databases of servers, and writes its
// snapshot.
func hookConfig(l config.Locations, r *load.Result, report func(format string, args ...any)) *config.Config {
	h := *r
	h.Config.Databases = slices.Clone(r.Config.Databases)
	if err := remote.AddTo(&h.Config, l); err != nil {
		report("cannot read the list of a server's databases: %v", err)
	}
	h.Config.AddClustered()
	if err := h.WriteSnapshot(l); err != nil {
		report("cannot write the config snapshot: %v", err)
	}
	h.Config.Names = lookup.DefinedNames(h.Config.Databases)
	if err := h.Config.Names.Write(l); err != nil {
		report("no names: %v", err)
	}
	return &h.Config
}

// claimRefresh reports whether the caller is to start a refresh.
func claimRefresh(l config.Locations) (bool, error) {
	if l.Cache == "" {
		return false, errors.New("the cache folder is not known")
	}
	lock, err := filelock.AcquireMkdir(l.Cache, filepath.Join(l.Cache, refreshLock), 0)
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	f := lock.File()
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	last := make([]byte, st.Size())
	if _, err := f.ReadAt(last, 0); err != nil && len(last) > 0 {
		return false, err
	}
	if string(last) == l.Config && time.Since(st.ModTime()) < refreshRetry {
		if file, err := os.Stat(l.Config); err != nil || !file.ModTime().After(st.ModTime()) {
			return false, nil
		}
	}
	_, err = f.WriteAt([]byte(l.Config), 0)
	return true, errors.Join(err, f.Truncate(int64(len(l.Config))))
}

// Refresh makes the snapshots for a folder in the background. Files that have just
// been written have no snapshot, so it tries again.
func Refresh(l config.Locations, folder string) error {
	lock, err := filelock.AcquireMkdir(l.Cache, filepath.Join(l.Cache, refreshLock), time.Second)
	if errors.Is(err, filelock.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	background.LowerPriority()
	background.EndAfter(refreshLimit)
	for pause := 250 * time.Millisecond; pause <= 2*time.Second; pause *= 2 {
		if _, err := Read(l, folder); err != nil {
			return err
		}
		if hasSnapshots(l, config.PlaceOf(l, os.Getenv, folder)) {
			return lock.File().Truncate(0)
		}
		time.Sleep(pause)
	}
	return errors.New("cannot keep the config and the rules for the hook: a file cannot be read, or changes all the time")
}

// hasSnapshots reports whether the hook needs to read no files in a place but its snapshots.
func hasSnapshots(l config.Locations, place config.RoutesPlace) bool {
	none := func(*config.Rule) bool { return false }
	_, err := config.ReadSnapshot(l, os.Getenv)
	if err != nil {
		return false
	}
	user, err := config.ReadUserRoutes(l, place, none)
	if err == nil && place != place.User() {
		_, err = config.ReadProjectRoutes(l, place, user, none)
	}
	return err == nil
}
