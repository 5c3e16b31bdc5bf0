package job_test

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/web/job"
)

// TestMain makes the test binary the program of the jobs.
func TestMain(m *testing.M) {
	switch os.Getenv("DOCSEARCH_TEST_JOB") {
	case "":
		os.Exit(m.Run())
	case "build":
		for i := range 3 {
			fmt.Fprintf(os.Stderr, "{\"stage\":\"indexing\",\"done\":%d,\"total\":2}\n", i)
		}
		fmt.Println("built gitlab")
		fmt.Print("without an end")
	case "fail":
		fmt.Fprintln(os.Stderr, "docsearch: cannot read the source")
		os.Exit(3)
	case "wait":
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		fmt.Println("ready")
		<-interrupted
		os.Exit(130)
	case "flood":
		for i := range 1000 {
			fmt.Println(i, strings.Repeat("x", 10<<10))
		}
	}
}

func newRunner(t *testing.T, kind string) (*job.Runner, chan bool) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	changed := make(chan bool, 10000)
	r := job.New(program, append(os.Environ(), "DOCSEARCH_TEST_JOB="+kind), func(ended bool) { changed <- ended })
	t.Cleanup(r.Close)
	return r, changed
}

// find returns the job with an ID, or none.
func find(r *job.Runner, id string) job.Job {
	for _, j := range r.Jobs() {
		if j.ID == id {
			return j
		}
	}
	return job.Job{}
}

// until waits until a job fulfills a condition.
func until(t *testing.T, r *job.Runner, changed chan bool, id string, condition func(job.Job) bool) job.Job {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		j := find(r, id)
		if condition(j) {
			return j
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("timeout; the job is %+v", j)
		}
	}
}

func start(t *testing.T, r *job.Runner, subject string) string {
	t.Helper()
	id, err := r.Start("title of "+subject, subject)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func hasEnded(j job.Job) bool { return j.State != job.Running }

func TestJob(t *testing.T) {
	r, changed := newRunner(t, "build")
	j := until(t, r, changed, start(t, r, "gitlab"), hasEnded)
	if j.State != job.Done || j.Stage.Stage != "indexing" || j.Stage.Done != 2 || j.Ended.IsZero() {
		t.Errorf("job %+v", j)
	}
	lines := map[string]bool{}
	for _, line := range j.Lines {
		lines[line] = true
	}
	if len(lines) != 2 || !lines["built gitlab"] || !lines["without an end"] {
		t.Errorf("output %q", j.Lines)
	}
}

func TestFailedJob(t *testing.T) {
	r, changed := newRunner(t, "fail")
	j := until(t, r, changed, start(t, r, "gitlab"), hasEnded)
	if j.State != job.Failed || !strings.Contains(j.Problem, "exit status 3") || len(j.Lines) != 1 {
		t.Errorf("job %+v", j)
	}
	r = job.New("/does/not/exist", nil, func(bool) {})
	if _, err := r.Start("title", ""); err == nil {
		t.Error("a missing program starts")
	}
}

// Only some jobs run at the same time, and one per subject.
func TestLimits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a job is killed there")
	}
	r, changed := newRunner(t, "wait")
	first := start(t, r, "a")
	if _, err := r.Start("title", "a"); !errors.Is(err, job.ErrSubject) {
		t.Errorf("a second job of the subject: %v", err)
	}
	second := start(t, r, "b")
	if _, err := r.Start("title", "c"); !errors.Is(err, job.ErrBusy) {
		t.Errorf("a third job: %v", err)
	}
	until(t, r, changed, first, func(j job.Job) bool { return len(j.Lines) > 0 })
	r.Cancel(first)
	if j := until(t, r, changed, first, hasEnded); j.State != job.Canceled {
		t.Errorf("the canceled job is %s", j.State)
	}
	until(t, r, changed, second, func(j job.Job) bool { return len(j.Lines) > 0 })
	r.Close()
	if j := find(r, second); j.State != job.Canceled {
		t.Errorf("after Close, the job is %s", j.State)
	}
	if _, err := r.Start("title", "d"); err == nil {
		t.Error("a closed runner starts a job")
	}
}

// The kept output of a job and the kept jobs are bounded.
func TestMemory(t *testing.T) {
	r, changed := newRunner(t, "flood")
	j := until(t, r, changed, start(t, r, ""), hasEnded)
	size := 0
	for _, line := range j.Lines {
		size += len(line)
	}
	if j.Dropped == 0 || len(j.Lines)+j.Dropped != 1000 || size > 1<<20 {
		t.Errorf("%d lines with %d bytes kept, %d dropped", len(j.Lines), size, j.Dropped)
	}
	r, changed = newRunner(t, "build")
	for range 22 {
		until(t, r, changed, start(t, r, ""), hasEnded)
	}
	if n := len(r.Jobs()); n != 20 {
		t.Errorf("%d jobs kept, want 20", n)
	}
	if latest := r.Jobs()[0].ID; latest != "22" {
		t.Errorf("the latest job is %s, want 22", latest)
	}
}
