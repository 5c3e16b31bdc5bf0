package main

import (
	"bytes"
	"context"
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
	sharedFolder = "shared"
	registryLock = ".lock"
)

// projectID returns the name of a checkout's files in the folder of projects.
func projectID(checkout string) string {
	sum := sha256.Sum256([]byte(checkout))
	return hex.EncodeToString(sum[:8])
}

// canonicalFolder returns a folder's path without symbolic links, if it can be resolved.
func canonicalFolder(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func registrationFile(l config.Locations, checkout string) string {
	return filepath.Join(l.Projects, projectID(checkout)+".json")
}

// readRegistration returns the registration of a checkout, empty if there is none.
func readRegistration(l config.Locations, checkout string) (*config.Registration, error) {
	r, err := config.ReadRegistration(registrationFile(l, checkout))
	if errors.Is(err, fs.ErrNotExist) {
		return &config.Registration{Folder: checkout}, nil
	}
	if err == nil && r.Folder != checkout {
		err = fmt.Errorf("%s is the registration of another project", registrationFile(l, checkout))
	}
	return r, err
}

// registrations returns the registrations of all projects. It reports those that cannot be
// read.
func registrations(l config.Locations) (all []*config.Registration, err error) {
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
	r, err := readRegistration(l, checkout)
	if err != nil {
		return err
	}
	before := slices.Clone(r.Databases)
	change(r)
	file := registrationFile(l, checkout)
	if len(r.Databases) == 0 {
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
	all, err := registrations(l)
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
		if dir := db.Path; !kept[dir] && config.Contains(l.Projects, dir) && fileExists(dir) {
			kept[dir] = true
			if err := removeFiles(dir, true); err != nil {
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
	checkout := canonicalFolder(p.Checkout)
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
	real := canonicalFolder(p.Checkout)
	owners := []string{real}
	if main, ok := project.MainCheckout(p.Checkout); ok {
		owners = append(owners, canonicalFolder(main))
	}
	for _, owner := range owners {
		r, err := readRegistration(l, owner)
		if err != nil {
			return err
		}
		for _, folder := range []string{p.Checkout, real} {
			if len(r.Databases) == 0 || folder == owner || slices.Contains(r.Also, folder) {
				continue
			}
			if err := changeRegistration(l, owner, func(r *config.Registration) { r.Also = append(r.Also, folder) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFromProject removes a database from a project, or all of them if path is empty.
func removeFromProject(l config.Locations, checkout, path string) error {
	return changeRegistration(l, checkout, func(r *config.Registration) {
		r.Databases = slices.DeleteFunc(r.Databases, func(db config.Database) bool { return path == "" || db.Path == path })
	})
}

// projectDatabases lists the databases of all projects.
func projectDatabases(l config.Locations) ([]databaseRef, error) {
	all, err := registrations(l)
	var list []databaseRef
	for _, r := range all {
		for i := range r.Databases {
			list = append(list, configuredRef(&r.Databases[i]))
		}
	}
	return list, err
}

// anyDatabase resolves a database argument, also to a database of another project than the
// one in the working directory.
func (a *app) anyDatabase(arg string) (databaseRef, error) {
	l := config.Locate(os.Getenv)
	of, err := projectDatabases(l)
	if err != nil {
		return databaseRef{}, err
	}
	d, err := a.database(arg)
	if err == nil && d.Project == "" { // maybe the path of one
		if i := slices.IndexFunc(of, func(o databaseRef) bool { return samePath(o.Path, d.Path) }); i >= 0 {
			return of[i], nil
		}
	}
	if _, unknown := errors.AsType[*notFoundError](err); !unknown {
		return d, err
	}
	of = slices.DeleteFunc(of, func(o databaseRef) bool { return !strings.EqualFold(o.Name, arg) })
	switch len(of) {
	case 0:
		return d, err
	case 1:
		return of[0], nil
	}
	projects := collect(of, func(o databaseRef) string { return o.Project })
	return d, withHint(fmt.Errorf("several projects have a database %s", arg), "run the command in one of their folders: %s", strings.Join(projects, ", "))
}

// removeProject removes all databases of the project in a folder.
func (a *app) removeProject(ctx context.Context, dir string, yes bool) error {
	l := config.Locate(os.Getenv)
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	checkout := dir
	if p, err := project.Read(dir, config.Home(os.Getenv)); err == nil { // else the folder is gone
		checkout = canonicalFolder(p.Checkout)
	}
	r, err := readRegistration(l, checkout)
	if err != nil {
		return err
	}
	if len(r.Databases) == 0 {
		return withHint(fmt.Errorf("the project %s has no databases of its own", checkout), "run docsearch index list to list all databases with their projects")
	}
	target := count(len(r.Databases), "database") + " of the project " + checkout
	if err := mayRemove(ctx, newPrompter(a.stdin, a.stderr), target, yes); err != nil {
		return err
	}
	if err := removeFromProject(l, checkout, ""); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "removed %s\n", target)
	return nil
}
