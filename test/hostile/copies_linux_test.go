package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Equal searches that an agent makes in parallel are one denial. All hooks have
// started before the first one receives its event.
func TestEqualSearchesAtOnce(t *testing.T) {
	const n = 60
	s := newSandbox(t)
	s.writeRedirectConfig()
	s.env = append(s.env, "DOCSEARCH_HOOK_TIMEOUT_MS=60000")
	start := make(chan struct{})
	results := make([]result, n)
	var ready, done sync.WaitGroup
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			event := searchEvent{"s", "", fmt.Sprint("toolu_", i), "gitlab ci"}.String()
			results[i] = s.startHook(event, ready.Done, start)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	for i, r := range results {
		if !denies(r) {
			t.Errorf("search %d is not denied: %+v", i, r)
		}
	}
	// A search is a retry only if it starts later.
	for i := 0; denies(s.hook(searchEvent{"s", "", fmt.Sprint("toolu_r", i), "gitlab ci"}.String())); i++ {
		if i == 1000 {
			t.Fatal("no retry of the equal searches runs")
		}
	}
}

// startHook starts a hook, calls ready when the hook reads its event, and sends
// the rest of the event after start.
func (s *sandbox) startHook(event string, ready func(), start <-chan struct{}) (r result) {
	stdin, events, err := os.Pipe()
	if err != nil {
		ready()
		s.Error(err)
		return r
	}
	defer stdin.Close()
	defer events.Close()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(s.Context(), *binary, "hook")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.work, s.env, stdin, &stdout, &stderr
	err = cmd.Start()
	if err == nil {
		_, err = events.WriteString(event[:1])
	}
	for unread := 1; err == nil && unread > 0; time.Sleep(time.Millisecond) {
		unread, err = unix.IoctlGetInt(int(stdin.Fd()), unix.TIOCINQ)
	}
	ready()
	if err != nil {
		s.Error(err)
		return r
	}
	<-start
	if _, err := events.WriteString(event[1:]); err != nil {
		s.Error(err)
	}
	cmd.Wait()
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), false}
}
