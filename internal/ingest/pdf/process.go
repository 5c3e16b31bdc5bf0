package pdf

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/md"
)

// Argument is what a program is given that shall call Serve.
const Argument = "read-pdf"

// Limits of the process that reads a file.
const (
	maxFile   = 64 << 20 // bytes of the file
	maxMemory = 4 << 30  // bytes of address space, on systems that limit it
	maxOutput = 1 << 30  // bytes of the result
)

// timeoutOf is how long a file of that size may take. Manuals take about 0.2 s
// for a megabyte.
func timeoutOf(size int) time.Duration { return 15*time.Second + time.Duration(size>>20)*2*time.Second }

// maxLate is how many files may take too long before no more are read.
const maxLate = 8

// A Process reads files in processes of their own: the library that reads their
// objects follows loops without end, and allocates what a file says.
type Process struct {
	Path    string        // of a program that calls Serve
	Timeout time.Duration // 0: by the size of the file

	late atomic.Int32 // files that took too long
}

// A result is what Serve writes.
type result struct {
	Document md.Document
	Left     []Left
	Error    string
}

// Parse reads a file as the function Parse does, until ctx ends.
func (p *Process) Parse(ctx context.Context, data []byte) (md.Document, []Left, error) {
	if p.late.Load() >= maxLate {
		return md.Document{}, nil, fmt.Errorf("not read: %d PDF files before it took too long", maxLate)
	}
	timeout := cmp.Or(p.Timeout, timeoutOf(len(data)))
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limit, p.Path)
	cmd.Args = []string{os.Args[0], Argument} // a program may go by its name
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	cmd.Stdin, cmd.WaitDelay = bytes.NewReader(data), time.Second
	r, err := runFor(cmd, cancel)
	switch {
	case ctx.Err() != nil:
		return md.Document{}, nil, ctx.Err()
	case errors.Is(limit.Err(), context.DeadlineExceeded):
		p.late.Add(1)
		return md.Document{}, nil, fmt.Errorf("takes longer than %v to read", timeout)
	case err != nil:
		return md.Document{}, nil, err
	case r.Error != "":
		return md.Document{}, nil, errors.New(r.Error)
	}
	return r.Document, r.Left, nil
}

// runFor runs a command for its result. Of a command that writes another thing it
// cancels the context.
func runFor(cmd *exec.Cmd, cancel context.CancelFunc) (r result, err error) {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return r, fmt.Errorf("cannot start the reader of PDF files: %w", err)
	}
	if err = json.NewDecoder(io.LimitReader(out, maxOutput)).Decode(&r); err != nil {
		err = errors.New("a damaged PDF file: the process that reads it failed")
		cancel()
	}
	cmd.Wait()
	return r, err
}

// Serve reads a file from in and writes what Parse makes of it to out. It limits
// the time and the memory of the process.
func Serve(in io.Reader, out io.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, maxFile))
	if err != nil {
		return err
	}
	limitProcess(timeoutOf(len(data)))
	var r result
	if r.Document, r.Left, err = Parse(data); err != nil {
		const longest = 300 // the library's errors may have a part of the file in them
		r.Error = err.Error()
		if len(r.Error) > longest {
			r.Error = r.Error[:longest] + "..."
		}
	}
	return json.NewEncoder(out).Encode(r)
}
