package library

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/project"
)

// Databases that are made for a project are in the folder of projects, which is not the
// data folder: they answer in the project only. Those made from files of the checkout are
// in the project's own folder there. Others may be used by several projects: their content
// comes from a download, or from a package that is installed for the whole machine.
const (
	SharedFolder = "shared"
	registryLock = ".lock"
)

// projectID returns the name of a checkout's files in the folder of projects.
func projectID(checkout string) string {
	sum := sha256.Sum256([]byte(checkout))
	return hex.EncodeToString(sum[:8])
}

func registrationFile(l config.Locations, checkout string) string {
	return filepath.Join(l.Projects, projectID(checkout)+".json")
}

// ReadRegistration returns the registration of a checkout, empty if there is none.
func ReadRegistration(l config.Locations, checkout string) (*config.Registration, error) {
	r, err := config.ReadRegistration(registrationFile(l, checkout))
	if errors.Is(err, fs.ErrNotExist) {
		return &config.Registration{Folder: checkout}, nil
	}
	if err == nil && r.Folder != checkout {
		err = fmt.Errorf("%s is the registration of another project", registrationFile(l, checkout))
	}
	return r, err
}

// Registrations returns the registrations of all projects. It reports those that cannot be
// read.
func Registrations(l config.Locations) (all []*config.Registration, err error) {
	for _, file := range config.Registrations(l) {
		r, readErr := config.ReadRegistration(file)
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}
		all = append(all, r)
	}
	return all, err
}

// changeRegistration changes the registration of a checkout, and then removes the files of
// the databases that no project has any more.
func changeRegistration(l config.Locations, checkout string, change func(*config.Registration)) error {
	if l.Projects == "" {
		return errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set")
	}
	const patience = 10 * time.Second
	lock, err := filelock.AcquireMkdir(l.Projects, filepath.Join(l.Projects, registryLock), patience)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	r, err := ReadRegistration(l, checkout)
	if err != nil {
		return err
	}
	before := slices.Clone(r.Databases)
	change(r)
	file := registrationFile(l, checkout)
	if len(r.Databases)+len(r.Ignored) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(file); err != nil || !bytes.Equal(old, data) {
			if err := atomicfile.Write(file, data, 0o600); err != nil {
				return err
			}
		}
	}
	return removeUnregistered(l, before)
}

// removeUnregistered removes the files of those databases that no registration has.
func removeUnregistered(l config.Locations, databases []config.Database) error {
	all, err := Registrations(l)
	if err != nil {
		return err // it may have them
	}
	kept := map[string]bool{}
	for _, r := range all {
		for i := range r.Databases {
			kept[r.Databases[i].Path] = true
		}
	}
	for _, db := range databases {
		if dir := db.Path; !kept[dir] && config.Contains(l.Projects, dir) && FileExists(dir) {
			kept[dir] = true
			if err := RemoveFiles(dir, true); err != nil {
				return err
			}
			os.Remove(filepath.Dir(dir)) // the project's, if it is empty now
		}
	}
	return nil
}

// registerDatabases adds databases to the registration of a project's checkout. A database
// replaces those of the same name, and those of other contents of the same version.
func registerDatabases(l config.Locations, p *project.Project, databases []config.Database) error {
	checkout := CanonicalFolder(p.Checkout)
	return changeRegistration(l, checkout, func(r *config.Registration) {
		if p.Checkout != checkout && !slices.Contains(r.Also, p.Checkout) {
			r.Also = append(r.Also, p.Checkout)
		}
		for _, db := range databases {
			r.Databases = slices.DeleteFunc(r.Databases, func(old config.Database) bool {
				return strings.EqualFold(old.Name, db.Name) || old.Path == db.Path || old.Version == db.Version && slices.Equal(old.Packages, db.Packages)
			})
			r.Databases = append(r.Databases, db)
		}
	})
}

// adoptFolder makes the databases of a checkout answer in another folder of it, too: in a
// worktree of the repository, or at another path of the same folder.
func adoptFolder(l config.Locations, p *project.Project) error {
	real := CanonicalFolder(p.Checkout)
	owners := []string{real}
	if main, ok := project.MainCheckout(p.Checkout); ok {
		owners = append(owners, CanonicalFolder(main))
	}
	for _, owner := range owners {
		r, err := ReadRegistration(l, owner)
		if err != nil {
			return err
		}
		for _, folder := range []string{p.Checkout, real} {
			if len(r.Databases)+len(r.Ignored) == 0 || folder == owner || slices.Contains(r.Also, folder) {
				continue
			}
			if err := changeRegistration(l, owner, func(r *config.Registration) { r.Also = append(r.Also, folder) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveFromProject removes a database from a project, or all of them if path is empty.
func RemoveFromProject(l config.Locations, checkout, path string) error {
	return changeRegistration(l, checkout, func(r *config.Registration) {
		r.Databases = slices.DeleteFunc(r.Databases, func(db config.Database) bool { return path == "" || db.Path == path })
	})
}

// LeaveToUser removes from all projects the databases of downloads, and of packages that are
// installed for the whole machine, that document the same packages in the same version as one
// of the user: that answers in every folder.
func LeaveToUser(l config.Locations, user *config.Database) error {
	all, err := Registrations(l)
	if err != nil {
		return err
	}
	shared := filepath.Join(l.Projects, SharedFolder)
	same := func(db config.Database) bool {
		return config.Contains(shared, db.Path) && len(db.Packages) > 0 && !slices.ContainsFunc(db.Packages,
			func(id string) bool { return !documents(user, id, db.Version) })
	}
	for _, r := range all {
		if !slices.ContainsFunc(r.Databases, same) {
			continue
		}
		err = errors.Join(err, changeRegistration(l, r.Folder,
			func(r *config.Registration) { r.Databases = slices.DeleteFunc(r.Databases, same) }))
	}
	return err
}

// documents reports whether a database documents exactly this version of a package, or of a tool
// this release.
func documents(db *config.Database, id, version string) bool {
	return slices.Contains(db.Packages, id) && (db.Version == version ||
		strings.HasPrefix(id, project.Tool+":") && config.VersionCloseness(db.Version, version) == config.SameVersion)
}

// ProjectDatabases lists the databases of all projects.
func ProjectDatabases(l config.Locations) ([]Ref, error) {
	all, err := Registrations(l)
	var list []Ref
	for _, r := range all {
		for i := range r.Databases {
			list = append(list, Configured(&r.Databases[i]))
		}
	}
	return list, err
}
