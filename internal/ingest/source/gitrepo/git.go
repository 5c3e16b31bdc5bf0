package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A git runs git in a bare repository.
type git struct {
	program, dir string
}

// create creates the bare repository in its empty folder, with only the
// configuration written here.
func (g *git) create(ctx context.Context, r Repo) error {
	if _, err := g.output(ctx, "init", "--quiet", "--bare", "--template=", "."); err != nil {
		return err
	}
	config := "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n" +
		"[remote \"origin\"]\n\turl = " + quote(r.URL) + "\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n" +
		g.connection(ctx)
	return os.WriteFile(filepath.Join(g.dir, "config"), []byte(config), 0o600)
}

// connection returns the settings for passwords, proxies and certificates from
// the user's and the system's configuration, as configuration text.
func (g *git) connection(ctx context.Context) string {
	const settings = `^(credential\..*|http\.(.*\.)?(proxy|proxyauthmethod|proxyssl[a-z]*|ssl(backend|cainfo|capath|cert|certtype|key|keytype|verify|version)|schannel[a-z]*))$`
	var b strings.Builder
	for _, from := range []string{"--system", "--global"} {
		out, err := g.command(ctx, environment(), "config", from, "--includes", "-z", "--get-regexp", settings).Output()
		if err != nil {
			continue // no such file or settings
		}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			key, value, given := strings.Cut(entry, "\n")
			section, name := key[:max(0, strings.IndexByte(key, '.'))], key[strings.LastIndexByte(key, '.')+1:]
			if section == "" {
				continue
			}
			b.WriteString("[" + section)
			if sub := strings.TrimSuffix(key[len(section)+1:], name); sub != "" {
				b.WriteString(" " + quote(strings.TrimSuffix(sub, ".")))
			}
			b.WriteString("]\n\t" + name)
			if given {
				b.WriteString(" = " + quote(value))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// quote quotes a value for a configuration file.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// settings keep git from running other programs and from fetching anything that
// was not requested.
var settings = []string{
	"core.hooksPath=" + os.DevNull,
	"core.attributesFile=" + os.DevNull,
	"core.fsmonitor=false",
	"core.askPass=",
	"fetch.recurseSubmodules=false",
	"gc.auto=0",
	"http.followRedirects=false",
	"maintenance.auto=false",
	"submodule.recurse=false",
	"transfer.bundleURI=false",
}

// environment returns the environment of this process without variables that
// change the behavior of git. Connection settings stay.
func environment() []string {
	kept := []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
		"GIT_CONFIG_NOSYSTEM"}
	return slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSL_") && !slices.Contains(kept, name)
	})
}

// isolated returns the environment of a git that reads only the repository's
// configuration and transfers only by that protocol; "": it transfers nothing.
func isolated(protocol string) []string {
	env := slices.DeleteFunc(environment(), func(e string) bool { return strings.HasPrefix(e, "GIT_CONFIG_") })
	env = append(env,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL="+protocol, "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "LC_ALL=C")
	if os.Getenv("GIT_SSH_COMMAND") == "" && os.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}

func (g *git) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	all := []string{"--git-dir=."} // do not search for another repository
	if args[0] == "init" || args[0] == "config" {
		all = nil
	}
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, g.program, append(all, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, env, 2*time.Second
	return cmd
}

// output runs git and returns its output.
func (g *git) output(ctx context.Context, args ...string) (string, error) {
	var b strings.Builder
	err := g.stream(ctx, isolated(""), nil, func(out io.Reader) error {
		_, err := io.Copy(&b, out)
		return err
	}, args...)
	return strings.TrimSpace(b.String()), err
}

// stream runs git and passes its output to read. It returns read's error, else
// git's.
func (g *git) stream(ctx context.Context, env []string, input io.Reader, read func(io.Reader) error,
	args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := g.command(ctx, env, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = input, &limited{&stderr, 64 << 10}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := read(out)
	if failed != nil {
		cancel() // discard the rest of the output
	}
	err = cmd.Wait()
	switch {
	case failed != nil:
		return failed
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case strings.Contains(stderr.String(), "The requested URL returned error: 30"):
		return ErrRedirect
	case err != nil && isUnreachable(stderr.String()):
		return fmt.Errorf("%w: git %s: %s", ErrUnreachable, args[0], errorLine(stderr.String(), err))
	case err != nil:
		return fmt.Errorf("git %s: %s", args[0], errorLine(stderr.String(), err))
	}
	return nil
}

// isUnreachable reports whether git says that it has no connection to the server.
func isUnreachable(stderr string) bool {
	for _, text := range []string{"Failed to connect to", "Could not resolve", "Couldn't connect to server"} {
		if strings.Contains(stderr, text) {
			return true
		}
	}
	return false
}

// A limited writer keeps only the first bytes.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// errorLine returns the line of git's output that contains the error.
func errorLine(stderr string, err error) string {
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

// protocol returns the URL's protocol, as git names it.
func (r Repo) protocol() string {
	if u, err := url.Parse(r.URL); err == nil && strings.Contains(r.URL, "://") {
		return u.Scheme
	}
	return "ssh"
}
