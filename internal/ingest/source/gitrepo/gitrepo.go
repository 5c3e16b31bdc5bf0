// Package gitrepo copies the files of a git repository into a folder, using the
// git on the PATH. It copies one commit and, if the server supports it,
// transfers only the wanted files.
//
// The repository is untrusted, and so is the folder, which may come with a
// database that someone else built. git only transfers objects:
//
//   - Each Fetch creates a bare repository with its own configuration and removes
//     it at the end. Existing repositories are not used: a .git in the folder is
//     removed like any file that the commit does not have.
//   - git does not check out files, so hooks, filters and attributes do not apply
//     and no links or submodules are created. File contents are read from git
//     cat-file; this package writes them below the folder.
//   - Existing files are kept if their hash matches the commit. Only other files
//     are requested: an update transfers the commit, its trees and changed files.
//   - git runs without user and system configuration, except for connection
//     settings (see connection), and without environment variables that change
//     its behavior. It follows no redirects, uses only the URL's protocol, and
//     does not prompt.
//   - The number of files, their sizes and the transferred bytes are limited.
package gitrepo

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Repo is the URL of a repository and a revision.
type Repo struct {
	URL string
	Ref string // branch, tag, tag pattern or commit; "": the default branch
}

// Parse parses the URL of a repository, optionally with "#" and a branch, tag
// or commit: https://host/x.git, ssh://, git@host:x, file:///x. A tag pattern
// contains one "*", which no ref can contain: "v2.*" means the release tag with
// the highest version that is "v2" or starts with "v2.". On hosts that serve only
// repositories, the URL of a repository's page will do: https://github.com/owner/x.
func Parse(s string) (Repo, bool) {
	location, ref, _ := strings.Cut(s, "#")
	if strings.ContainsAny(s, " \t\n\x00") || strings.HasPrefix(ref, "-") || strings.Count(ref, "*") > 1 ||
		isPattern(ref) && strings.ContainsAny(ref, `?[\`) {
		return Repo{}, false
	}
	location = strings.TrimPrefix(location, "git+")
	if user, rest, ok := strings.Cut(location, "@"); ok && !strings.Contains(location, "://") {
		// git@host:path, which is not a file name
		host, path, ok := strings.Cut(rest, ":")
		if !ok || user == "" || host == "" || path == "" || user[0] == '-' || host[0] == '-' ||
			strings.ContainsAny(user+host, `/\`) {
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
		if page, ok := fromPage(u); ok {
			return Repo{page, ref}, true
		}
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

// reserved are the first folders of GitHub that are not the name of an owner.
var reserved = [...]string{
	"about", "apps", "collections", "enterprise", "explore", "features", "login", "marketplace", "orgs", "search",
	"settings", "sponsors", "topics", "trending", "users",
}

// fromPage returns the URL of a repository for that of its page on a known host.
func fromPage(u *url.URL) (string, bool) {
	host := strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	p := strings.Trim(u.EscapedPath(), "/")
	folders := strings.Split(p, "/")
	if u.User != nil || u.RawQuery != "" || len(folders) < 2 || slices.Contains(folders, "") ||
		slices.Contains(folders, "-") {
		return "", false
	}
	switch host {
	case "github.com", "codeberg.org", "bitbucket.org":
		if len(folders) != 2 || slices.Contains(reserved[:], folders[0]) {
			return "", false
		}
	case "gitlab.com": // groups nest
		if folders[0] == "explore" || folders[0] == "groups" || folders[0] == "users" || folders[0] == "help" {
			return "", false
		}
	case "git.sr.ht": // serves the repository under the URL of its page
		if len(folders) != 2 || !strings.HasPrefix(folders[0], "~") {
			return "", false
		}
		return "https://" + host + "/" + p, true
	default:
		return "", false
	}
	return "https://" + host + "/" + strings.TrimSuffix(p, ".git") + ".git", true
}

// FromBare returns the URL of the bare repository at a local path, which may end
// in "#" and a ref like that of Parse.
func FromBare(location string) (string, bool) {
	folder, ref, hasRef := strings.Cut(location, "#")
	if st, err := os.Stat(location); err == nil && st.IsDir() {
		folder, hasRef = location, false // the name contains "#"
	}
	for name, isFolder := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		if st, err := os.Stat(filepath.Join(folder, name)); err != nil || st.IsDir() != isFolder {
			return "", false
		}
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", false
	}
	folder = filepath.ToSlash(folder)
	if !strings.HasPrefix(folder, "/") {
		folder = "/" + folder // a drive of Windows
	}
	u := (&url.URL{Scheme: "file", Path: folder}).String()
	if hasRef {
		u += "#" + ref
	}
	return u, true
}

func (r Repo) String() string {
	if r.Ref == "" {
		return r.URL
	}
	return r.URL + "#" + r.Ref
}

func isPattern(ref string) bool { return strings.Contains(ref, "*") }

// shortest returns the shortest tag that a pattern selects: "v2" for "v2.*".
func shortest(pattern string) string {
	before, after, _ := strings.Cut(pattern, "*")
	return strings.TrimRight(before, ".-_") + after
}

// matches reports whether a pattern selects a tag. The "*" matches a version
// number: digits with dots, hyphens or underscores between them. So prereleases
// do not match.
func matches(pattern, tag string) bool {
	before, after, _ := strings.Cut(pattern, "*")
	rest, ok := strings.CutPrefix(tag, before)
	number, isTail := strings.CutSuffix(rest, after)
	return ok && isTail && number != "" && strings.Trim(number, "0123456789.-_") == "" || tag == shortest(pattern)
}

// Name returns the last part of the repository's path.
func (r Repo) Name() string {
	path := strings.TrimRight(r.URL, "/")
	path = strings.TrimSuffix(path, ".git")
	return path[strings.LastIndexAny(path, "/:")+1:]
}

// ErrPassword reports that a URL has a password, which would be stored with the
// database.
var ErrPassword = errors.New("the URL contains a password; use git's credential helper")

// ErrNoGit reports that git is not on the PATH.
var ErrNoGit = errors.New("git not found on PATH")

// ErrNoURL is the error of Fetch for a location that Parse rejects.
var ErrNoURL = errors.New("not the URL of a git repository")

// ErrUnreachable reports that there is no connection to the server.
var ErrUnreachable = errors.New("no connection")

// ErrRedirect reports that the server redirects to another URL. It may be on
// another host, which must not receive credentials for this one.
var ErrRedirect = errors.New("the server redirects to another URL")
