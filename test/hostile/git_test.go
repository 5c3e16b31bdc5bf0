package hostile

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// A gitAttack is a sandbox with a git repository and a database built from it.
type gitAttack struct {
	*sandbox
	upstream    string // repository path
	url         string
	database    string
	clone       string // folder of the clone in the database
	trapProgram string // program that writes the marker
	marker      string
}

func newGitAttack(t *testing.T) *gitAttack {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git not found")
	}
	s := newSandbox(t)
	a := &gitAttack{
		sandbox: s, upstream: filepath.Join(s.work, "upstream"), database: filepath.Join(s.work, "db"),
		trapProgram: filepath.Join(s.work, "trap"), marker: filepath.Join(s.work, "sprung"),
	}
	a.url, a.clone = "file://"+a.upstream, filepath.Join(a.database, "source", "copy")
	s.write(a.trapProgram, "#!/bin/sh\necho \"$0 $*\" >> "+a.marker+"\nexit 1\n")
	if err := os.Chmod(a.trapProgram, 0o755); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(a.upstream, "docs", "a.md"), "# Kettle\n\nHow to descale the kettle with vinegar.\n")
	a.git(a.upstream, "init", "--quiet", "--initial-branch=main")
	a.git(a.upstream, "config", "uploadpack.allowFilter", "true")
	a.commit("one")
	return a
}

// git runs git as the owner of the repository.
func (a *gitAttack) git(dir string, args ...string) {
	a.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		a.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (a *gitAttack) commit(message string) {
	a.Helper()
	a.git(a.upstream, "add", ".")
	a.git(a.upstream, "commit", "--quiet", "-m", message)
}

// program writes a hook or another program that runs the trap.
func (a *gitAttack) program(path string) {
	a.Helper()
	a.write(path, "#!/bin/sh\nexec "+a.trapProgram+" "+filepath.Base(path)+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		a.Fatal(err)
	}
}

// requireNotSprung fails the test if the trap ran.
func (a *gitAttack) requireNotSprung() {
	a.Helper()
	if out, err := os.ReadFile(a.marker); err == nil {
		a.Errorf("a command of the repository ran: %s", out)
	}
}

// A database from another user contains a clone of its repository. An update
// ignores the clone's configuration and succeeds.
func TestGitConfigurations(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(a *gitAttack, git string) // git is the clone's .git folder
	}{
		{"uploadpack", func(a *gitAttack, git string) { a.git(a.clone, "config", "remote.origin.uploadpack", a.trapProgram) }},
		{"filter", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "filter.x.smudge", a.trapProgram)
			a.write(filepath.Join(git, "info", "attributes"), "*.md filter=x\n")
		}},
		{"clean filter", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "filter.x.clean", a.trapProgram)
			a.write(filepath.Join(git, "info", "attributes"), "*.md filter=x\n")
			a.write(filepath.Join(a.clone, "docs", "a.md"), "# Changed\n") // git would compare it
		}},
		{"filter process", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "filter.x.process", a.trapProgram)
			a.git(a.clone, "config", "filter.x.required", "true")
			a.write(filepath.Join(git, "info", "attributes"), "*.md filter=x\n")
		}},
		{"instead of", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "url.ext::"+a.trapProgram+" .insteadOf", "file://")
			a.git(a.clone, "config", "protocol.ext.allow", "always")
		}},
		{"ssh command", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "url.ssh://host/.insteadOf", "file://")
			a.git(a.clone, "config", "core.sshCommand", a.trapProgram)
			a.git(a.clone, "config", "ssh.variant", "simple")
		}},
		{"include", func(a *gitAttack, git string) {
			a.write(filepath.Join(git, "more"), "[remote \"origin\"]\n\tuploadpack = "+a.trapProgram+"\n")
			a.git(a.clone, "config", "include.path", "more")
		}},
		{"worktree configuration", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "extensions.worktreeConfig", "true")
			a.write(filepath.Join(git, "config.worktree"), "[remote \"origin\"]\n\tuploadpack = "+a.trapProgram+"\n")
		}},
		{"file system monitor", func(a *gitAttack, git string) { a.git(a.clone, "config", "core.fsmonitor", a.trapProgram) }},
		{"hooks", func(a *gitAttack, git string) {
			for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-auto-gc"} {
				a.program(filepath.Join(git, "hooks", hook))
			}
		}},
		{"path of hooks", func(a *gitAttack, git string) {
			a.program(filepath.Join(a.clone, "hooks", "reference-transaction"))
			a.git(a.clone, "config", "core.hooksPath", "hooks")
		}},
		{"alternates", func(a *gitAttack, git string) {
			a.write(filepath.Join(git, "objects", "info", "alternates"), filepath.Join(a.upstream, ".git", "objects")+"\n")
			a.git(a.clone, "config", "core.alternateRefsCommand", a.trapProgram)
		}},
		{"promisor", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "core.repositoryFormatVersion", "1")
			a.git(a.clone, "config", "extensions.partialClone", "evil")
			a.git(a.clone, "config", "remote.evil.url", a.url)
			a.git(a.clone, "config", "remote.evil.promisor", "true")
			a.git(a.clone, "config", "remote.evil.uploadpack", a.trapProgram)
		}},
		{"helper", func(a *gitAttack, git string) {
			a.git(a.clone, "config", "remote.origin.vcs", "ext")
			a.git(a.clone, "config", "protocol.allow", "always")
		}},
		{"a file that leads elsewhere", func(a *gitAttack, git string) {
			elsewhere := filepath.Join(a.work, "elsewhere.git")
			if err := os.Rename(git, elsewhere); err != nil {
				a.Fatal(err)
			}
			a.write(git, "gitdir: "+elsewhere+"\n")
			a.git(a.clone, "config", "remote.origin.uploadpack", a.trapProgram)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newGitAttack(t)
			a.must(a.docsearch("index", "build", a.url, "--out", a.database, "--name", "kettle"))
			// A clone that another user may have left there: complete, and of the same
			// repository.
			git := filepath.Join(a.clone, ".git")
			if err := os.RemoveAll(git); err != nil {
				t.Fatal(err)
			}
			a.git(a.clone, "init", "--quiet")
			a.git(a.clone, "remote", "add", "origin", a.url)
			a.git(a.clone, "fetch", "--quiet", "--depth=1", "origin", "HEAD")
			a.git(a.clone, "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
			tt.plant(a, git)
			a.write(filepath.Join(a.upstream, "docs", "b.md"), "# Toaster\n\nHow to clean the crumb tray of the toaster.\n")
			a.commit("two")
			r := a.docsearch("update", a.database)
			a.requireNotSprung()
			a.must(r)
			if r := a.docsearch("search", "--json", "--path", a.database, "crumb tray"); !strings.Contains(r.stdout, "Toaster") {
				t.Errorf("the update found nothing new: %s%s", r.stdout, r.stderr)
			}
		})
	}
}

// The contents of a repository do not run programs and do not lead outside.
func TestGitRepositories(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(a *gitAttack)
	}{
		{"attributes", func(a *gitAttack) {
			a.write(filepath.Join(a.home, ".gitconfig"), "[filter \"x\"]\n\tsmudge = "+a.trapProgram+"\n\trequired = true\n")
			a.write(filepath.Join(a.upstream, ".gitattributes"), "*.md filter=x\n")
			a.commit("two")
		}},
		{"submodule", func(a *gitAttack) {
			a.write(filepath.Join(a.upstream, ".gitmodules"), "[submodule \"x\"]\n\tpath = x\n\turl = ext::"+a.trapProgram+"\n\tupdate = !"+a.trapProgram+"\n")
			a.git(a.upstream, "add", ".")
			a.git(a.upstream, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",x")
			a.git(a.upstream, "commit", "--quiet", "-m", "two")
		}},
		{"links", func(a *gitAttack) {
			a.write(filepath.Join(a.work, "victim", "secret.md"), "# Secret\n\nThe combination is 1234.\n")
			for name, to := range map[string]string{"out": "../../../victim", "secret.md": filepath.Join(a.work, "victim", "secret.md")} {
				if err := os.Symlink(to, filepath.Join(a.upstream, name)); err != nil {
					a.Fatal(err)
				}
			}
			a.commit("two")
		}},
		{"partial clone", func(a *gitAttack) {
			partial := filepath.Join(a.work, "partial")
			a.git(a.work, "clone", "--quiet", "--bare", "--no-local", "--filter=blob:none", a.url, partial)
			a.git(partial, "config", "remote.origin.uploadpack", a.trapProgram)
			a.url = "file://" + partial
		}},
		{"settings of the user", func(a *gitAttack) {
			a.program(filepath.Join(a.home, "hooks", "reference-transaction"))
			a.write(filepath.Join(a.home, ".gitconfig"), "[core]\n\thooksPath = "+filepath.Join(a.home, "hooks")+"\n\tfsmonitor = "+a.trapProgram+"\n"+
				"[url \"ext::"+a.trapProgram+" \"]\n\tinsteadOf = file://\n[protocol]\n\tallow = always\n")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newGitAttack(t)
			tt.plant(a)
			r := a.docsearch("index", "build", a.url, "--type", "git", "--out", a.database, "--name", "kettle")
			if r.late {
				t.Error("the build did not end")
			}
			a.requireNotSprung()
			if r := a.docsearch("search", "--json", "--path", a.database, "combination"); strings.Contains(r.stdout, "combination is 1234") {
				t.Errorf("a file outside of the repository was indexed: %s", r.stdout)
			}
		})
	}
}

// A location in another user's manifest is treated as a URL, not as an option
// or a command.
func TestGitLocations(t *testing.T) {
	a := newGitAttack(t)
	for _, location := range []string{
		"ext::" + a.trapProgram, "--upload-pack=" + a.trapProgram, "file://" + a.upstream + "#--upload-pack=" + a.trapProgram,
		"-oProxyCommand=" + a.trapProgram + "@host:x", "ssh://-oProxyCommand=" + a.trapProgram + "/x.git",
	} {
		r := a.docsearch("index", "build", "--type", "git", "--out", a.database, "--name", "kettle", "--", location)
		if r.code == 0 || r.late {
			t.Errorf("%s: exit code %d, late %t", location, r.code, r.late)
		}
		a.requireNotSprung()
	}
}

// serveGit serves the repositories below a folder over HTTP.
func serveGit(t *testing.T, folder string) http.Handler {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := filepath.Join(strings.TrimSpace(string(out)), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("git has no http-backend")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + folder}, Stderr: &strings.Builder{}}
		if version := r.Header.Get("Git-Protocol"); version != "" {
			h.Env = append(h.Env, "GIT_PROTOCOL="+version)
		}
		h.ServeHTTP(w, r)
	})
}

// Redirects to other hosts are not followed.
func TestGitRedirect(t *testing.T) {
	a := newGitAttack(t)
	var reached atomic.Bool
	target := serveGit(t, a.work)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Store(true)
		target.ServeHTTP(w, r)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusMovedPermanently)
	}))
	defer server.Close()
	r := a.docsearch("index", "build", server.URL+"/upstream/.git", "--type", "git", "--out", a.database, "--name", "kettle")
	if r.code == 0 || reached.Load() {
		t.Errorf("the redirect was followed: exit code %d", r.code)
	}
	if !strings.Contains(r.stderr, "redirect") || !strings.Contains(r.stderr, "hint:") {
		t.Errorf("the error does not tell: %s", r.stderr)
	}
}

// For a private repository, git uses the user's own credential helper, but not
// one that the database configures.
func TestGitCredentials(t *testing.T) {
	a := newGitAttack(t)
	private := serveGit(t, a.work)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); name != "me" || password != "secret" {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		private.ServeHTTP(w, r)
	}))
	defer server.Close()
	url := server.URL + "/upstream/.git"
	args := []string{"index", "build", url, "--type", "git", "--out", a.database, "--name", "kettle"}
	if r := a.docsearch(args...); r.code == 0 || r.late {
		t.Errorf("without a password: exit code %d, late %t", r.code, r.late)
	}
	a.write(filepath.Join(a.home, "credentials"), strings.Replace(server.URL, "://", "://me:secret@", 1)+"\n")
	a.write(filepath.Join(a.home, ".gitconfig"), "[credential]\n\thelper = store --file "+filepath.Join(a.home, "credentials")+"\n")
	a.must(a.docsearch(args...))

	a.write(filepath.Join(a.home, ".gitconfig"), "")
	if err := os.RemoveAll(filepath.Join(a.clone, ".git")); err != nil {
		t.Fatal(err)
	}
	a.git(a.clone, "init", "--quiet")
	a.git(a.clone, "remote", "add", "origin", url)
	a.git(a.clone, "config", "credential.helper", "!"+a.trapProgram)
	a.git(a.clone, "config", "core.askPass", a.trapProgram)
	if r := a.docsearch("update", a.database); r.code == 0 || r.late {
		t.Errorf("with the database's helper: exit code %d, late %t", r.code, r.late)
	}
	a.requireNotSprung()
}
