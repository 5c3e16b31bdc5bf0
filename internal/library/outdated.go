package library

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/index"
)

const UpdateAttempts = "update.json" // time of the last attempt for each database folder; see reindexAttempt

// Outdated returns the databases whose index has an older format and answers nothing. They
// are overdue at once, whatever their source. An attempt counts for the version that made it.
func Outdated(all []Ref, attempts map[string]time.Time, tool string) []Ref {
	return slices.DeleteFunc(slices.Clone(all), func(d Ref) bool {
		return time.Since(attempts[ReindexAttempt(d, tool)]) < UpdateInterval || !IsOutdated(d)
	})
}

// ReindexAttempt returns the key of an attempt of a version to rebuild an index.
func ReindexAttempt(d Ref, tool string) string { return "format of " + tool + ": " + d.Path }

// UpdateInterval is the minimum time since the last verification and since the
// last attempt before a background update runs.
const UpdateInterval = 24 * time.Hour

// Overdue returns the databases that need a background update. It omits
// databases whose sources updates may not read.
func Overdue(all []Ref, attempts map[string]time.Time) []Ref {
	var chosen []Ref
	for _, d := range all {
		info, err := index.Inspect(d.Path)
		if err == nil && time.Since(info.LastVerified()) >= UpdateInterval &&
			time.Since(attempts[d.Path]) >= UpdateInterval && MayRead(info.Dir) {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// ReadAttempts returns the time of the last update attempt of each database. It
// ignores an unreadable file, which costs one extra attempt.
func ReadAttempts(cache string) map[string]time.Time {
	attempts := map[string]time.Time{}
	if data, err := os.ReadFile(filepath.Join(cache, UpdateAttempts)); err == nil &&
		json.Unmarshal(data, &attempts) != nil {
		return map[string]time.Time{}
	}
	return attempts
}

// IsOutdated reports whether the database's index has an older format.
func IsOutdated(d Ref) bool {
	db, err := index.Open(d.Path)
	if err == nil {
		err = db.Close()
	}
	return index.IsOutdated(err)
}
