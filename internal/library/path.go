package library

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
)

// IsPath reports whether an argument is a path, as opposed to a name.
func IsPath(s string) bool {
	return strings.ContainsRune(s, filepath.Separator) || strings.Contains(s, "/") || s == "." || s == ".."
}

// SamePath reports whether two paths refer to the same file, comparing them as
// text and through the file system.
func SamePath(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	stA, errA := os.Stat(a)
	stB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(stA, stB)
}

// CacheFolder returns the cache folder, which it makes if necessary.
func CacheFolder() (string, error) {
	cache := config.Locate(os.Getenv).Cache
	if cache == "" {
		return "", errors.New("cannot find the cache folder: DOCSEARCH_CACHE_DIR and the home directory are not set")
	}
	return cache, os.MkdirAll(cache, 0o755)
}

// sameSource reports whether two paths or URLs refer to the same source.
func sameSource(a, b string) bool {
	if IsURL(a) || IsURL(b) || a == b {
		return strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
	}
	return SamePath(a, b)
}

// IsURL reports whether an argument is the URL of a web page.
func IsURL(s string) bool { return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") }

// CanonicalFolder returns a folder's path without symbolic links, if it can be resolved.
func CanonicalFolder(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// FileExists reports whether a file or folder exists.
func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
