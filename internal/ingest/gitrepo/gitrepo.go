// Package gitrepo fetches the files of a git repository, through the git on the
// PATH: the last commit alone, and of it only the files that are wanted, where
// the server knows how.
//
// A repository is foreign. Nothing of it is run: no hooks, no submodules, no
// large-file filters, no other programs than git and, for ssh, the user's ssh;
// git asks no questions. Symbolic links are what they are: who reads the folder
// must not follow them.
package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
var ErrPassword = errors.New("the URL has a password; git's credential helper is the place for it")

// ErrNoGit says that there is no git on the PATH.
var ErrNoGit = errors.New("there is no git on the PATH")

// Fetch makes dir the repository's files, of which those are wanted that one of
// the patterns matches, as .gitignore has them; none is all. If dir has the
// repository already, only what is new is fetched. It returns the commit.
func Fetch(ctx context.Context, r Repo, dir string, patterns []string) (string, error) {
	if u, err := url.Parse(r.URL); err == nil && u.User != nil {
		if _, ok := u.User.Password(); ok {
			return "", ErrPassword
		}
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNoGit
	}
	g := &git{program: program, dir: dir}
	if !g.has(ctx, r) {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if _, err := g.run(ctx, "init", "--quiet", "--template="); err != nil {
			return "", err
		}
		if _, err := g.run(ctx, "remote", "add", "origin", r.URL); err != nil {
			return "", err
		}
	}
	if err := g.unlock(); err != nil {
		return "", err
	}
	ref := r.Ref
	if ref == "" {
		ref = "HEAD"
	}
	// What the server cannot leave out it sends, and git says so.
	if _, err := g.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--filter=blob:none", "origin", "--end-of-options", ref); err != nil {
		return "", fmt.Errorf("fetch %s: %w", r, err)
	}
	sparse := []string{"sparse-checkout", "disable"}
	if len(patterns) > 0 {
		sparse = append([]string{"sparse-checkout", "set", "--no-cone"}, patterns...)
	}
	if _, err := g.run(ctx, sparse...); err != nil {
		return "", err
	}
	if _, err := g.run(ctx, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"); err != nil {
		return "", fmt.Errorf("check out %s: %w", r, err)
	}
	commit, err := g.run(ctx, "rev-parse", "HEAD")
	return strings.TrimSpace(commit), err
}

type git struct {
	program, dir string
}

// has reports whether the folder has the repository.
func (g *git) has(ctx context.Context, r Repo) bool {
	if st, err := os.Stat(filepath.Join(g.dir, ".git")); err != nil || !st.IsDir() {
		return false
	}
	out, err := g.run(ctx, "config", "--get", "remote.origin.url")
	return err == nil && strings.TrimSpace(out) == r.URL
}

// unlock removes the locks of a git that was killed. Nobody else works in the
// folder: it is the database's, which is locked while it is built.
func (g *git) unlock() error {
	for _, pattern := range []string{"*.lock", filepath.Join("info", "*.lock")} {
		locks, err := filepath.Glob(filepath.Join(g.dir, ".git", pattern))
		if err != nil {
			return err
		}
		for _, lock := range locks {
			if err := os.Remove(lock); err != nil {
				return err
			}
		}
	}
	return nil
}

// settings keep git from running anything but itself, wherever the user's own
// settings would have it do so.
var settings = []string{
	"core.hooksPath=" + os.DevNull,
	"core.fsmonitor=false",
	"core.attributesFile=" + os.DevNull,
	"core.autocrlf=false",
	"advice.detachedHead=false",
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"filter.lfs.smudge=", "filter.lfs.process=", "filter.lfs.clean=", "filter.lfs.required=false",
	"protocol.allow=never", "protocol.https.allow=always", "protocol.http.allow=always", "protocol.ssh.allow=always", "protocol.file.allow=always",
}

// run runs git in the folder and returns what it printed.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	var all []string
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, g.program, append(all, args...)...)
	cmd.Dir = g.dir
	cmd.WaitDelay = 2 * time.Second
	cmd.Env = append(os.Environ(),
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
		"GIT_LFS_SKIP_SMUDGE=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(g.dir), "LC_ALL=C")
	if os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		cmd.Env = append(cmd.Env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	// Of a repository that this runs in, as in a hook of its own.
	cmd.Env = slices.DeleteFunc(cmd.Env, func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"}, name)
	})
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("git %s: %s", args[0], said(stderr.String(), err))
	}
	return stdout.String(), nil
}

// said is the line of git's that says what is wrong.
func said(stderr string, err error) string {
	for l := range strings.Lines(stderr) {
		for _, mark := range []string{"fatal: ", "error: "} {
			if rest, ok := strings.CutPrefix(l, mark); ok {
				return strings.TrimSpace(rest)
			}
		}
	}
	if s := strings.TrimSpace(stderr); s != "" {
		return s[strings.LastIndexByte(s, '\n')+1:]
	}
	return err.Error()
}
