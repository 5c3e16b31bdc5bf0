// Package hostile attacks a docsearch binary with untrusted input: indexes with
// symbolic links, git configurations, settings of a checkout, passages that
// imitate a client's own messages, FIFOs, and bombs. Each attack runs the
// binary as a user would, in its own home. It checks that nothing outside the
// attack's own folder changed, that no command of the attacker ran, and that
// the binary exited in time.
//
//	go test ./test/hostile                             # attack a binary built from this checkout
//	go test ./test/hostile -docsearch /path/docsearch  # attack another one
//	DOCSEARCH_NIGHTLY=1 go test ./test/hostile         # all limits, faults and rounds
//
// The attacks use only loopback addresses and remove their files.
package hostile

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/file/filetest"
)

var binary = flag.String("docsearch", "", "attack the docsearch `binary` at this path (default: build one)")

// nightly reports that attacks use all limits, faults and rounds.
var nightly = os.Getenv("DOCSEARCH_NIGHTLY") != ""

// hookLimit is the time limit of a hook: its own deadline, the process start,
// and a margin for a busy machine.
const hookLimit = 10 * time.Second

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if *binary == "" {
			dir, err := os.MkdirTemp("", "docsearch-hostile-")
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer os.RemoveAll(dir)
			*binary = filepath.Join(dir, "docsearch")
			if runtime.GOOS == "windows" {
				*binary += ".exe"
			}
			build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", *binary, "../../cmd/docsearch")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "cannot build docsearch: %v\n%s", err, out)
				return 1
			}
		}
		path, err := filepath.Abs(*binary)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		*binary = path
		return m.Run()
	}())
}

// A sandbox holds the home and the working folder of an attack.
type sandbox struct {
	*testing.T
	home string // HOME of every command
	work string // working folder of every command
	env  []string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	dir := filetest.TempDir(t)
	s := &sandbox{T: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	s.mkdir(s.home)
	s.mkdir(s.work)
	s.env = []string{
		"HOME=" + s.home, "USERPROFILE=" + s.home,
		"APPDATA=" + filepath.Join(s.home, "AppData", "Roaming"), "LOCALAPPDATA=" + filepath.Join(s.home, "AppData", "Local"),
		"XDG_DATA_HOME=" + filepath.Join(s.home, ".local", "share"),
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "TMPDIR=" + os.TempDir(), "TMP=" + os.TempDir(),
	}
	return s
}

// A result is the result of a docsearch command.
type result struct {
	stdout, stderr string
	code           int  // -1: ended by a signal
	late           bool // killed at its time limit
}

// docsearch runs the binary with arguments.
func (s *sandbox) docsearch(args ...string) result {
	s.Helper()
	return s.run(2*time.Minute, "", args...)
}

// hook runs a hook with an event on stdin.
func (s *sandbox) hook(event string) result {
	s.Helper()
	return s.run(hookLimit, event, "hook")
}

// run runs the binary, kills it at the time limit, and returns its result.
func (s *sandbox) run(limit time.Duration, stdin string, args ...string) result {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, *binary, args...)
	cmd.Env = s.env
	return s.wait(ctx, cmd, stdin)
}

// wait runs a command in the work folder until it exits or ctx is done.
func (s *sandbox) wait(ctx context.Context, cmd *exec.Cmd, stdin string) result {
	s.Helper()
	cmd.Dir, cmd.Stdin = s.work, strings.NewReader(stdin)
	// Of 200 hooks at once, some are slow to start, with copies of the pipes of others.
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		s.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), ctx.Err() != nil}
}

// must fails the test unless the command succeeded.
func (s *sandbox) must(r result) result {
	s.Helper()
	if r.code != 0 || r.late {
		s.Fatalf("exit code %d, late %t\nstdout: %s\nstderr: %s", r.code, r.late, r.stdout, r.stderr)
	}
	return r
}

func (s *sandbox) mkdir(path string) {
	s.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		s.Fatal(err)
	}
}

// write writes a file and creates its parent folders.
func (s *sandbox) write(path, contents string) {
	s.Helper()
	s.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *sandbox) read(path string) string {
	s.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}

// A snapshot maps the paths below a folder to their types and contents.
type snapshot map[string]string

// snapshotOf reads a folder without following links.
func (s *sandbox) snapshotOf(dir string) snapshot {
	s.Helper()
	all := snapshot{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		content := d.Type().String()
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			content += target
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content += string(data)
		}
		all[path] = content
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	return all
}

// requireUnchanged fails the test if a folder differs from its snapshot.
func (s *sandbox) requireUnchanged(dir string, before snapshot) {
	s.Helper()
	after := s.snapshotOf(dir)
	for path, content := range before {
		if now, ok := after[path]; !ok {
			s.Errorf("%s was removed", path)
		} else if now != content {
			s.Errorf("%s was changed", path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			s.Errorf("%s was created", path)
		}
	}
}
