//go:build linux

package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// signalLimit is the time limit for a command to exit after a signal: its grace
// time plus a margin for a busy machine.
const signalLimit = 20 * time.Second

// A command exits on SIGINT and SIGTERM at any point, with the exit code for
// that signal. Here, it would otherwise wait or compute for minutes or forever.
func TestSignals(t *testing.T) {
	s := newSandbox(t)
	temporary := filepath.Join(s.home, "tmp")
	s.mkdir(temporary)
	s.env = append(s.env, "TMPDIR="+temporary)
	silent := newSilentServer(t)
	docs := filepath.Join(s.work, "docs")
	s.write(filepath.Join(docs, "page.md"), "# The tool\n\n## How do I make the tool quiet?\n\nThe option `--quiet` keeps the tool from printing anything but errors.\n")
	s.must(s.docsearch("index", "build", docs, "--quiet"))
	embedder := []string{"--embedder", "openai:silent", "--embedder-url", silent.url() + "/v1"}
	pipe := filepath.Join(s.work, "pipe")
	if err := makePipe(pipe); err != nil {
		t.Fatal(err)
	}
	many := filepath.Join(s.work, "many")
	s.write(filepath.Join(many, "0.md"), strings.Repeat("# Turning\n\nTo turn a widget, hold its *crank* and see `turn`.\n\n", 4000))
	for i := range 4000 {
		if err := os.Link(filepath.Join(many, "0.md"), filepath.Join(many, fmt.Sprint(i+1, ".md"))); err != nil {
			t.Fatal(err)
		}
	}
	transcript := filepath.Join(s.work, "sessions", "endless.jsonl")
	s.write(transcript, "")
	if err := os.Truncate(transcript, 1<<42); err != nil {
		t.Fatal(err)
	}
	held := filepath.Join(s.home, ".claude.json")
	s.write(held, "{}")

	for _, test := range []struct {
		name  string
		args  []string
		tty   bool
		until bool           // runs until it is stopped, and then succeeds
		ready func(*running) // waits until the command has reached the point of interest
	}{
		{name: "hook that waits for its event", args: []string{"hook"}, ready: (*running).waitForStdinRead},
		{name: "server that waits for a request", args: []string{"serve"}, until: true, ready: (*running).waitForStdinRead},
		{name: "server over HTTP", args: []string{"serve", "--http", "127.0.0.1:0"}, until: true, ready: waitForOutput("serving on")},
		{name: "site that does not answer", args: []string{"index", "build", silent.url() + "/docs/", "--name", "site"}, ready: silent.waitForConnection},
		{name: "repository that does not answer", args: []string{"index", "build", silent.url() + "/project.git"}, ready: silent.waitForConnection},
		{name: "embedder that does not answer", args: append([]string{"index", "build", docs, "--name", "embedded"}, embedder...), ready: silent.waitForConnection},
		{name: "documents that take long", args: []string{"index", "build", "many"}, ready: waitForOpenFile(many)},
		{name: "folder that is watched", args: []string{"update", "docs", "--watch"}, until: true, ready: waitForOutput("docs")},
		{name: "transcript without end", args: []string{"replay", filepath.Dir(transcript)}, ready: waitForOpenFile(transcript)},
		{name: "queries from a pipe", args: []string{"eval", "--queries", pipe}, ready: openPipe(pipe)},
		{name: "event from a pipe", args: []string{"inject", "explain", pipe}, ready: openPipe(pipe)},
		{name: "event from standard input", args: []string{"inject", "explain", "-"}, ready: (*running).waitForStdinRead},
		{name: "settings that another program holds", args: []string{"install", "--command", *binary}, ready: holdLock(held + ".lock")},
		{name: "question at a terminal", args: []string{"setup"}, tty: true, ready: waitForOutput("Documentation (")},
		{name: "question whether to remove", args: []string{"index", "remove", "docs"}, tty: true, ready: waitForOutput("?")},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(test.name+"/"+signal.String(), func(t *testing.T) {
				s := &sandbox{T: t, home: s.home, work: s.work, env: s.env}
				r := s.begin(test.tty, test.args...)
				test.ready(r)
				code, took := r.signalAndWait(signal)
				want := 128 + int(signal)
				if test.until {
					want = 0
				}
				if code != want && (test.until || code != -int(signal)) {
					t.Errorf("exit code %d, want %d or the end by the signal; it printed\n%s", code, want, r.output())
				}
				if said := r.output(); strings.Contains(said, "context canceled") || strings.Contains(said, "goroutine ") {
					t.Errorf("it printed\n%s", said)
				}
				if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
					t.Errorf("it left %v, %v", left, err)
					os.RemoveAll(temporary)
					s.mkdir(temporary)
				}
				t.Logf("ended after %v", took.Round(time.Millisecond))
				os.RemoveAll(held + ".lock")
			})
		}
	}
}

// A second build that waits for the first one exits, and so does the first.
func TestSignalsWhileLocked(t *testing.T) {
	s := newSandbox(t)
	silent := newSilentServer(t)
	s.write(filepath.Join(s.work, "docs", "page.md"), "# Page\n\nText.\n")
	build := []string{"index", "build", "docs", "--embedder", "openai:silent", "--embedder-url", silent.url() + "/v1"}
	first := s.begin(false, build...)
	silent.waitForConnection(first)
	second := s.begin(false, append(build, "--wait", "10m")...)
	waitForOpenFile("build.lock")(second)
	for _, r := range []*running{second, first} {
		if code, _ := r.signalAndWait(syscall.SIGTERM); code != 128+int(syscall.SIGTERM) {
			t.Errorf("exit code %d; it printed\n%s", code, r.output())
		}
	}
}

// A server exits at the end of its input, after it has answered the call in
// flight.
func TestEndOfInput(t *testing.T) {
	s := newSandbox(t)
	r := s.begin(false, "serve")
	r.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_databases","arguments":{}}}` + "\n")
	r.stdin.Close()
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d; it printed\n%s", code, r.output())
	}
	if !strings.Contains(r.output(), `"id":2`) {
		t.Errorf("the call was not answered:\n%s", r.output())
	}
}

// A running is a running docsearch command.
type running struct {
	*sandbox
	cmd   *exec.Cmd
	stdin io.WriteCloser // write end of its stdin
	done  chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
}

// begin starts the binary with open standard input, at a terminal if tty is
// set.
func (s *sandbox) begin(tty bool, args ...string) *running {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	r := &running{sandbox: s, cmd: exec.CommandContext(ctx, *binary, args...), done: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = s.work, s.env
	r.cmd.WaitDelay = time.Second
	if tty {
		r.terminal()
	} else {
		in, err := r.cmd.StdinPipe()
		if err != nil {
			s.Fatal(err)
		}
		r.stdin = in
		r.cmd.Stdout, r.cmd.Stderr = r, r
	}
	if err := r.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		defer close(r.done)
		r.cmd.Wait()
	}()
	s.Cleanup(func() {
		cancel()
		<-r.done
		r.stdin.Close()
	})
	return r
}

// terminal gives the command a terminal.
func (r *running) terminal() {
	r.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		r.Skip("skipped: ", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		r.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		r.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		r.Fatal(err)
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = tty, tty, tty
	r.stdin = master
	r.Cleanup(func() { tty.Close() })
	go io.Copy(r, master) // ends when the terminal is closed
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *running) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *running) send(text string) {
	r.Helper()
	if _, err := io.WriteString(r.stdin, text); err != nil {
		r.Fatal(err)
	}
}

// signalAndWait sends a signal and waits until the command has exited. It returns the
// exit code, or the negated number of the signal that ended the command.
func (r *running) signalAndWait(signal syscall.Signal) (code int, took time.Duration) {
	r.Helper()
	began := time.Now()
	if err := r.cmd.Process.Signal(signal); err != nil {
		r.Fatal(err)
	}
	return r.wait(), time.Since(began)
}

func (r *running) wait() (code int) {
	r.Helper()
	select {
	case <-r.done:
	case <-time.After(signalLimit):
		r.cmd.Process.Kill()
		<-r.done
		r.Fatalf("it did not end within %v; it printed\n%s", signalLimit, r.output())
	}
	if status := r.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return -int(status.Signal())
	}
	return r.cmd.ProcessState.ExitCode()
}

// waitUntil waits for a condition.
func (r *running) waitUntil(condition string, holds func() bool) {
	r.Helper()
	for began := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		select {
		case <-r.done:
			r.Fatalf("it ended before %s; it printed\n%s", condition, r.output())
		default:
		}
		if time.Since(began) > time.Minute {
			r.Fatalf("it did not reach the state %q; it printed\n%s", condition, r.output())
		}
	}
}

// waitForStdinRead waits until the command blocks in a read of its standard
// input.
func (r *running) waitForStdinRead() {
	r.Helper()
	r.waitUntil("it reads its input", func() bool {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", r.cmd.Process.Pid))
		if err != nil {
			r.Fatal(err)
		}
		for _, task := range tasks {
			if where, err := os.ReadFile(task); err == nil && strings.Contains(string(where), "pipe_read") {
				return true
			}
		}
		stack, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", r.cmd.Process.Pid))
		return err == nil && strings.HasPrefix(string(stack), strconv.Itoa(unix.SYS_READ)+" 0x0 ")
	})
}

// waitForOutput waits until the command has printed a text.
func waitForOutput(text string) func(*running) {
	return func(r *running) {
		r.Helper()
		r.waitUntil(fmt.Sprintf("it prints %q", text), func() bool { return strings.Contains(r.output(), text) })
	}
}

// waitForOpenFile waits until the command has opened a file whose path contains
// a text.
func waitForOpenFile(path string) func(*running) {
	return func(r *running) {
		r.Helper()
		r.waitUntil("it opens "+path, func() bool {
			fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", r.cmd.Process.Pid))
			if err != nil {
				r.Fatal(err)
			}
			for _, fd := range fds {
				if to, err := os.Readlink(fd); err == nil && strings.Contains(to, path) {
					return true
				}
			}
			return false
		})
	}
}

// openPipe opens a pipe for writing, which waits for a reader, and writes
// nothing.
func openPipe(pipe string) func(*running) {
	return func(r *running) {
		r.Helper()
		var f *os.File
		r.waitUntil("it opens the pipe", func() bool {
			fd, err := unix.Open(pipe, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if errors.Is(err, unix.ENXIO) {
				return false
			}
			if err != nil {
				r.Fatal(err)
			}
			f = os.NewFile(uintptr(fd), pipe)
			return true
		})
		r.Cleanup(func() { f.Close() })
	}
}

// holdLock takes another program's lock and keeps it fresh until the command
// waits for it.
func holdLock(lock string) func(*running) {
	if err := os.Mkdir(lock, 0o755); err != nil {
		panic(err)
	}
	return func(r *running) {
		r.Helper()
		os.Mkdir(lock, 0o755)
		now := time.Now().Add(time.Hour)
		if err := os.Chtimes(lock, now, now); err != nil {
			r.Fatal(err)
		}
		// The command writes the other one of its two files first.
		r.waitUntil("it waits for the lock", func() bool { return strings.Contains(r.output(), "added the hook to") })
		os.Remove(filepath.Join(r.home, ".claude", "settings.json"))
	}
}

// A silentServer accepts connections and never responds.
type silentServer struct {
	net.Listener
	connected chan struct{}
}

func newSilentServer(t *testing.T) *silentServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &silentServer{l, make(chan struct{}, 1000)}
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			s.connected <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			c.Close()
		}
	})
	return s
}

func (s *silentServer) url() string { return "http://" + s.Addr().String() }

// waitForConnection waits until a client has connected.
func (s *silentServer) waitForConnection(r *running) {
	r.Helper()
	r.waitUntil("it connects", func() bool {
		select {
		case <-s.connected:
			return true
		default:
			return false
		}
	})
}
