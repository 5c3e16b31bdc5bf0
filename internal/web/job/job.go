// Package job runs commands of this program for the page of docsearch web, and keeps
// their progress and output for it.
//
// A job is a process, so that a build cannot exhaust the memory of the server or crash
// it, and ends like a command in a terminal that is interrupted. Everything is bounded:
// the running jobs, the finished ones that are kept, and the output of each.
package job

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/progress"
)

const (
	// maxRunning limits the jobs that run at the same time. A build uses all cores.
	maxRunning = 2
	// maxKept limits the finished jobs that are kept.
	maxKept = 20
	// maxLines limits the lines of output that are kept of a job: the last ones.
	maxLines = 200
	// maxLine limits a line in bytes. The rest is dropped.
	maxLine = 4 << 10
	// endDelay is the time that an interrupted job has to end.
	endDelay = 10 * time.Second
	// reportInterval is the minimum time between two reports of a job's progress.
	reportInterval = 200 * time.Millisecond
)

// A State is the state of a job.
type State string

const (
	Running  State = "running"
	Done     State = "done"
	Failed   State = "failed"
	Canceled State = "canceled"
)

// A Job is a snapshot of a job.
type Job struct {
	ID      string // counts from 1
	Title   string // for people: "update gitlab"
	Subject string // that no other running job may have; "" for none
	State   State
	Stage   progress.Event // the last one
	// Lines are the lines of output that are not progress.
	Lines   []string
	Dropped int    // earlier lines that are not kept
	Problem string // why a failed job failed
	Started time.Time
	Ended   time.Time // zero while it runs
}

// ErrBusy means that too many jobs run.
var ErrBusy = fmt.Errorf("%d jobs are running; wait until one ends", maxRunning)

// ErrSubject means that a running job has the same subject.
var ErrSubject = errors.New("a job of this database is running; wait until it ends")

// A Runner runs jobs. The caller must call Close.
type Runner struct {
	program string
	env     []string
	changed func(ended bool) // after each change of a job

	mu      sync.Mutex
	jobs    []*running // oldest first
	last    int
	closed  bool
	waiting sync.WaitGroup
}

type running struct {
	Job
	cancel   context.CancelFunc
	reported time.Time
}

// New returns a runner for commands of a program. It calls changed after changes of a
// job, from several goroutines.
func New(program string, env []string, changed func(ended bool)) *Runner {
	return &Runner{program: program, env: env, changed: changed}
}

// Start starts the program with the arguments and returns the job's ID.
func (r *Runner) Start(title, subject string, args ...string) (string, error) {
	id, err := r.start(title, subject, args)
	if err == nil {
		r.changed(false)
	}
	return id, err
}

func (r *Runner) start(title, subject string, args []string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	active := 0
	for _, j := range r.jobs {
		if j.State != Running {
			continue
		}
		active++
		if subject != "" && j.Subject == subject {
			return "", ErrSubject
		}
	}
	switch {
	case r.closed:
		return "", errors.New("the server is stopping")
	case active >= maxRunning:
		return "", ErrBusy
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Env = r.env
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = endDelay
	r.last++
	j := &running{Job: Job{ID: fmt.Sprint(r.last), Title: title, Subject: subject, State: Running, Started: time.Now()},
		cancel: cancel}
	out := &lineWriter{each: func(line []byte) { r.output(j, line) }}
	cmd.Stdout, cmd.Stderr = out, out // one writer, so that exec serializes the writes
	if err := cmd.Start(); err != nil {
		cancel()
		return "", err
	}
	r.jobs = append(r.jobs, j)
	r.waiting.Add(1)
	go func() {
		defer r.waiting.Done()
		defer cancel()
		err := cmd.Wait()
		out.flush()
		r.end(j, ctx, err)
	}()
	return j.ID, nil
}

// interrupt asks a process to end, as Ctrl-C does.
func interrupt(p *os.Process) error {
	if runtime.GOOS == "windows" {
		return p.Kill()
	}
	return p.Signal(os.Interrupt)
}

// output handles a line of output: progress, or text.
func (r *Runner) output(j *running, line []byte) {
	r.mu.Lock()
	var e progress.Event
	isProgress := len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &e) == nil && e.Stage != ""
	now := time.Now()
	report := true
	if isProgress {
		report = e.Stage != j.Stage.Stage || now.Sub(j.reported) >= reportInterval
		j.Stage = e
	} else if j.Lines = append(j.Lines, string(line)); len(j.Lines) > maxLines {
		j.Lines = slices.Delete(j.Lines, 0, 1)
		j.Dropped++
	}
	if report {
		j.reported = now
	}
	r.mu.Unlock()
	if report {
		r.changed(false)
	}
}

func (r *Runner) end(j *running, ctx context.Context, err error) {
	r.mu.Lock()
	j.Ended = time.Now()
	switch {
	case err == nil:
		j.State = Done
	case ctx.Err() != nil:
		j.State = Canceled
	default:
		j.State, j.Problem = Failed, err.Error()
	}
	r.forget()
	r.mu.Unlock()
	r.changed(true)
}

// forget drops the oldest finished jobs.
func (r *Runner) forget() {
	finished := 0
	for _, j := range r.jobs {
		if j.State != Running {
			finished++
		}
	}
	r.jobs = slices.DeleteFunc(r.jobs, func(j *running) bool {
		if j.State == Running || finished <= maxKept {
			return false
		}
		finished--
		return true
	})
}

// Jobs returns the jobs, the latest first.
func (r *Runner) Jobs() []Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Job
	for _, j := range slices.Backward(r.jobs) {
		snapshot := j.Job
		snapshot.Lines = slices.Clone(j.Lines)
		all = append(all, snapshot)
	}
	return all
}

// Cancel interrupts a job. It does nothing if the job does not run.
func (r *Runner) Cancel(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		if j.ID == id {
			j.cancel()
		}
	}
}

// Close interrupts all jobs and waits until they have ended.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	for _, j := range r.jobs {
		j.cancel()
	}
	r.mu.Unlock()
	r.waiting.Wait()
}

// A lineWriter calls each with the lines that are written to it, without their ends.
type lineWriter struct {
	each func(line []byte)
	rest []byte // start of a line, at most maxLine bytes
}

var _ io.Writer = (*lineWriter)(nil)

func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		advance, line, _ := bufio.ScanLines(p, false)
		if advance == 0 {
			w.add(p)
			return n, nil
		}
		w.add(line)
		w.each(w.rest)
		w.rest, p = w.rest[:0], p[advance:]
	}
}

func (w *lineWriter) add(part []byte) {
	w.rest = append(w.rest, part[:min(len(part), maxLine-len(w.rest))]...)
}

// flush handles a last line without an end.
func (w *lineWriter) flush() {
	if len(bytes.TrimSpace(w.rest)) > 0 {
		w.each(w.rest)
	}
	w.rest = w.rest[:0]
}
