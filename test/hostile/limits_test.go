//go:build linux

package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// limitVariable sets the limit under which this test binary runs the command in
// its arguments instead of the tests.
const limitVariable = "DOCSEARCH_HOSTILE_LIMIT"

// limitedUser runs commands under limits that do not apply to root. No other
// process belongs to this user.
const limitedUser = 61234

func init() {
	limit := os.Getenv(limitVariable)
	if limit == "" {
		return
	}
	os.Unsetenv(limitVariable)
	err := runLimited(limit, os.Args[1:])
	fmt.Fprintf(os.Stderr, "cannot run %s under %s: %v\n", os.Args[1], limit, err)
	os.Exit(99)
}

// runLimited replaces this process by a command under a limit, "KIND=N" or
// "pids=FOLDER".
func runLimited(limit string, command []string) error {
	kind, value, _ := strings.Cut(limit, "=")
	if kind == "pids" {
		if err := os.WriteFile(filepath.Join(value, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			return err
		}
		return syscall.Exec(command[0], command, os.Environ())
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return err
	}
	if kind == "processes" && os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(limitedUser), syscall.Setuid(limitedUser)); err != nil {
			return err
		}
	}
	argv, err := syscall.SlicePtrFromStrings(command)
	if err != nil {
		return err
	}
	envv, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	resource := map[string]uintptr{
		"memory": unix.RLIMIT_AS, "data": unix.RLIMIT_DATA,
		"files": unix.RLIMIT_NOFILE, "size": unix.RLIMIT_FSIZE, "processes": unix.RLIMIT_NPROC,
	}[kind]
	to := &unix.Rlimit{Cur: n, Max: n}
	// From here on, this process must not allocate memory.
	syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, resource, uintptr(unsafe.Pointer(to)), 0, 0, 0)
	_, _, errno := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(argv[0])), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envv[0])))
	return errno
}

// The installed command exits with code 0 under every limit under which the
// client's shell runs at all, and prints nothing or one decision. Without
// memory, threads or files before main, a Go program exits with code 2, which
// would deny the call. So do dash and busybox if they cannot fork.
func TestLimits(t *testing.T) {
	s := newSandbox(t)
	event := s.answeredSearch()
	commands := s.installedCommands()
	users := os.Getuid()
	memory := 1.5
	if nightly {
		memory = 1.15
	}
	first := uint64(0)
	if users != 0 {
		first = processesOf(t, users)
	}
	for kind, limits := range map[string][]uint64{
		"memory":    geometricScale(1<<20, 1<<33, memory),
		"data":      geometricScale(1<<12, 1<<31, 1.5),
		"files":     geometricSteps(0, 40),
		"size":      append(geometricSteps(0, 4), geometricScale(8, 1<<20, 4)...),
		"processes": geometricSteps(first, first+16),
	} {
		t.Run(kind, func(t *testing.T) {
			s := &sandbox{T: t, home: s.home, work: s.work, env: s.env}
			if kind == "processes" && users == 0 {
				s.chown(limitedUser)
			}
			s.underLimits(commands, event, len(limits), func(i int) string { return fmt.Sprintf("%s=%d", kind, limits[i]) })
		})
	}
	t.Run("pids", func(t *testing.T) {
		s := &sandbox{T: t, home: s.home, work: s.work, env: s.env}
		group := pidsGroup(t)
		s.underLimits(commands, event, 20, func(i int) string {
			if err := os.WriteFile(filepath.Join(group, "pids.max"), []byte(strconv.Itoa(i+1)), 0); err != nil {
				t.Fatal(err)
			}
			return "pids=" + group
		})
	})
}

// enough is the number of consecutive limits with a denial of each command after which
// higher limits make no difference. The nightly tests try them, too.
const enough = 4

// underLimits runs commands under increasing limits.
func (s *sandbox) underLimits(commands map[string]string, event string, limits int, limit func(int) string) {
	s.Helper()
	dead, unlimited := 0, 0
	denials, silences := map[string]int{}, map[string]int{}
	for i := 0; i < limits && (unlimited < enough || nightly); i++ {
		how := limit(i)
		if r := s.limited(how, ":", event); r.code != 0 || r.late {
			dead++ // neither shell nor hook runs
			continue
		}
		unlimited++
		for name, command := range commands {
			label := fmt.Sprintf("%s, limit %d (%s)", name, i, how)
			r := s.limited(how, command, event)
			if isDecision(r.stdout) && r.code == 0 && !r.late {
				denials[name]++
				continue
			}
			unlimited = 0
			switch {
			case r.late:
				// bash retries fork for 15 seconds. The client stops the hook before that,
				// and the call runs as usual.
				s.Logf("%s: killed at the client's time limit; stderr %.100q", label, r.stderr)
			case r.code != 0:
				s.Errorf("%s: exit code %d, stderr %.200q", label, r.code, r.stderr)
			case r.stdout == "":
				silences[name]++
			default:
				s.Errorf("%s: stdout %q is neither nothing nor a decision", label, r.stdout)
			}
		}
	}
	for name := range commands {
		s.Logf("%s: %d limits without a shell, %d without a decision, %d with a denial", name, dead, silences[name], denials[name])
		if denials[name] == 0 || silences[name]+dead == 0 {
			s.Errorf("%s: the limits do not reach from where nothing works to where all does", name)
		}
	}
}

// limited runs a shell command line under a limit, as the client runs a hook.
func (s *sandbox) limited(limit, line, stdin string) result {
	s.Helper()
	s.forget()
	ctx, cancel := context.WithTimeout(s.Context(), hookLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "/bin/sh", "-c", line)
	cmd.Env = append(s.env, limitVariable+"="+limit)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	r := s.wait(ctx, cmd, stdin)
	if r.code == 99 {
		s.Fatal(r.stderr)
	}
	return r
}

// answeredSearch builds a database and returns the event of a web search that it
// answers.
func (s *sandbox) answeredSearch() (event string) {
	s.Helper()
	s.write(filepath.Join(s.work, "docs", "quiet.md"), "# The tool\n\n## How do I make the tool quiet?\n\nThe option `--quiet` keeps the tool from printing anything but errors.\n")
	data := filepath.Join(s.home, "data")
	s.must(s.docsearch("index", "build", filepath.Join(s.work, "docs"), "--out", data, "--name", "tool", "--quiet"))
	s.write(filepath.Join(s.home, ".claude", "hooks", "docsearch-config.json"), fmt.Sprintf(
		`{"databases": [{"keywords": ["tool"], "path": %q, "description": "manual of the tool"}], "hook": {"timeout_ms": 5000}}`, data))
	event = `{"session_id": "limits", "hook_event_name": "PreToolUse", "tool_name": "WebSearch", "tool_input": {"query": "how do I make the tool quiet"}}`
	if r := s.hook(event); !isDecision(r.stdout) {
		s.Fatalf("the search is not denied without limits: %+v", r)
	}
	s.forget()
	return event
}

// forget removes the hook's state of a session.
func (s *sandbox) forget() {
	s.Helper()
	if err := os.RemoveAll(filepath.Join(s.home, ".claude", "hooks", "docsearch-denials")); err != nil {
		s.Fatal(err)
	}
}

// installedCommands returns the commands that install adds for the user and for
// a project, and the command of the plugin.
func (s *sandbox) installedCommands() map[string]string {
	s.Helper()
	program := filepath.Join(s.work, "bin", "docsearch")
	s.mkdir(filepath.Dir(program))
	copyFile(s.T, program, *binary)
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program+"-hook", "../../cmd/docsearch-hook").CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	s.env = append(s.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "CLAUDE_PLUGIN_ROOT="+s.work, "DOCSEARCH_MCP_TOOL=mcp__docsearch__search")
	s.mkdir(filepath.Join(s.work, ".git"))
	s.must(s.docsearch("install", "--command", program))
	s.must(s.docsearch("install", "--scope", "project", "--command", "docsearch"))
	return map[string]string{
		"user":    hookCommand(s.T, filepath.Join(s.home, ".claude", "settings.json")),
		"project": hookCommand(s.T, filepath.Join(s.work, ".claude", "settings.json")),
		"plugin":  hookCommand(s.T, filepath.Join("..", "..", "plugin", "hooks", "hooks.json")),
	}
}

// hookCommand returns the command for web searches in a settings file.
func hookCommand(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal(data, &settings); err != nil || len(settings.Hooks["PreToolUse"]) == 0 {
		t.Fatalf("%s has no hook: %v", path, err)
	}
	return settings.Hooks["PreToolUse"][0].Hooks[0].Command
}

// isDecision reports whether text is a single JSON object that denies a call.
func isDecision(text string) bool {
	var v struct {
		Output struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	return json.Unmarshal([]byte(text), &v) == nil && v.Output.Decision == "deny"
}

// chown gives the sandbox to another user and makes it accessible to that user.
func (s *sandbox) chown(user int) {
	s.Helper()
	if err := os.Chmod(filepath.Dir(filepath.Dir(s.home)), 0o711); err != nil {
		s.Fatal(err)
	}
	for path := range s.snapshotOf(filepath.Dir(s.home)) {
		if err := os.Lchown(path, user, user); err != nil {
			s.Fatal(err)
		}
	}
}

// pidsGroup creates a control group that limits the number of processes.
func pidsGroup(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		group := filepath.Join(root, "docsearch-hostile-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(group) })
		if _, err := os.Stat(filepath.Join(group, "pids.max")); err == nil {
			return group
		}
	}
	t.Skip("skipped: no control group can be made here")
	return ""
}

// processesOf returns the number of processes and threads of a user.
func processesOf(t *testing.T, user int) uint64 {
	t.Helper()
	tasks, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	for _, task := range tasks {
		if st, err := os.Stat(task); err == nil && int(st.Sys().(*syscall.Stat_t).Uid) == user {
			n++
		}
	}
	return n
}

// geometricScale returns values from low to high, each a constant factor larger
// than the previous one.
func geometricScale(low, high, factor float64) (all []uint64) {
	for x := low; x <= high; x *= factor {
		all = append(all, uint64(x))
	}
	return all
}

func geometricSteps(low, high uint64) (all []uint64) {
	for x := low; x <= high; x++ {
		all = append(all, x)
	}
	return all
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
