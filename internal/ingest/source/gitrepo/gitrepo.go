// Package gitrepo copies the files of a git repository into a folder, through
// the git on the PATH: those of one commit, and of these only the ones that are
// wanted, where the server can leave out the others.
//
// A repository is untrusted, and so is the folder: it may come with a database
// that somebody else made. git only transfers objects:
//
//   - Each Fetch makes a bare repository with a configuration of its own and
//     removes it at the end. No repository that was there before is used: a .git
//     in the folder is removed like any file that the commit does not have.
//   - Nothing is checked out by git, so that no hook, filter or attribute applies
//     and no link or submodule is made. The contents of the files come from
//     git cat-file; this package writes them, below the folder.
//   - A file that is there already is kept if the hash of its bytes is that of the
//     commit's file. Only the others are asked for: an update costs the commit,
//     its trees and the files that have changed.
//   - git runs without the user's and the system's configuration, but for what
//     connections need (see connection), and without environment variables that
//     change what it does. It follows no redirect, uses no protocol but the URL's,
//     and asks no questions.
//   - The number of files, their length and what is transferred are limited.
package gitrepo

import (
	"errors"
	"net/url"
	"strings"
)

// A Repo is where a repository lies, and which commit of it is meant.
type Repo struct {
	URL string
	Ref string // a branch, tag or commit; "": what the repository names itself
}

// Parse recognises the URL of a repository, with or without "#" and a branch,
// tag or commit: https://host/x.git, ssh://, git@host:x, file:///x.
func Parse(s string) (Repo, bool) {
	location, ref, _ := strings.Cut(s, "#")
	if strings.ContainsAny(s, " \t\n\x00") || strings.HasPrefix(ref, "-") {
		return Repo{}, false
	}
	location = strings.TrimPrefix(location, "git+")
	if user, rest, ok := strings.Cut(location, "@"); ok && !strings.Contains(location, "://") {
		// git@host:path, which is no name of a file
		host, path, ok := strings.Cut(rest, ":")
		if !ok || user == "" || host == "" || path == "" || user[0] == '-' || host[0] == '-' || strings.ContainsAny(user+host, `/\`) {
			return Repo{}, false
		}
		return Repo{location, ref}, true
	}
	u, err := url.Parse(location)
	if err != nil {
		return Repo{}, false
	}
	switch u.Scheme {
	case "https", "http":
		if u.Host == "" || !strings.HasSuffix(strings.TrimRight(u.Path, "/"), ".git") {
			return Repo{}, false
		}
	case "ssh":
		if u.Host == "" || strings.HasPrefix(u.Host, "-") {
			return Repo{}, false
		}
	case "file":
		if u.Path == "" {
			return Repo{}, false
		}
	default:
		return Repo{}, false
	}
	return Repo{location, ref}, true
}

func (r Repo) String() string {
	if r.Ref == "" {
		return r.URL
	}
	return r.URL + "#" + r.Ref
}

// Name is what to call the repository: the last part of its path.
func (r Repo) Name() string {
	path := strings.TrimRight(r.URL, "/")
	path = strings.TrimSuffix(path, ".git")
	return path[strings.LastIndexAny(path, "/:")+1:]
}

// ErrPassword says that a URL has a password. It would be kept with the database.
var ErrPassword = errors.New("the URL contains a password; use git's credential helper")

// ErrNoGit says that there is no git on the PATH.
var ErrNoGit = errors.New("git not found on PATH")

// ErrNoURL is the error of Fetch for a location that Parse does not know.
var ErrNoURL = errors.New("not the URL of a git repository")

// ErrRedirect says that the server sends its clients to another URL. It may be
// of another host, to which nothing is sent that is meant for this one.
var ErrRedirect = errors.New("the server redirects to another URL")
