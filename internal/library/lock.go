package library

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/pack/registry"
	"github.com/docsearch/docsearch/internal/usererror"
)

// RelativeTo returns the location of a pack in a lock file. A path is relative to the
// folder of the lock file.
func RelativeTo(lock, source string) string {
	if IsURL(source) || strings.HasPrefix(source, registry.Scheme) || filepath.IsAbs(source) {
		return source
	}
	return filepath.Join(filepath.Dir(lock), filepath.FromSlash(source))
}

// ReadLock reads the lock file of the project in the working directory.
func ReadLock() (path string, lock *pack.Lock, err error) {
	working, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	if path = pack.FindLock(working); path == "" {
		return "", &pack.Lock{}, nil
	}
	lock, err = pack.ReadLock(path)
	return path, lock, err
}

// CheckLock returns an error if the project's lock file requires another pack of that
// name.
func CheckLock(head *pack.Head, hint string) error {
	path, lock, err := ReadLock()
	if err != nil {
		return err
	}
	if p := lock.Find(head.Name); p != nil && p.Digest != head.Digest() {
		return usererror.WithHint(fmt.Errorf("%s requires %s %s with the digest %s, got %s", path, p.Name, p.Version,
			p.Digest, head.Digest()), "%s", hint)
	}
	return nil
}

// RecordLock writes a pack to the project's lock file, or to a new one in the working
// directory.
func RecordLock(head *pack.Head, publisher pack.Key, location string) error {
	path, lock, err := ReadLock()
	if err != nil {
		return err
	}
	if path == "" {
		working, err := os.Getwd()
		if err != nil {
			return err
		}
		path = filepath.Join(working, pack.LockName)
	}
	if rel, err := filepath.Rel(filepath.Dir(path), location); err == nil && filepath.IsAbs(location) &&
		filepath.IsLocal(rel) {
		location = filepath.ToSlash(rel)
	}
	lock.Put(pack.Locked{Name: head.Name, Version: head.Version, Digest: head.Digest(), Publisher: string(publisher),
		Source: location})
	return lock.Write(path)
}
