package pdf

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
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
	Document mdwriter.Document
	Left     []SkippedPage
	Error    string
}

// The input of a process is the length of the file in eight bytes, big endian,
// and the file. It stays open until the process has answered: its end tells that
// nobody waits.

// Parse reads a file as the function Parse does, until ctx ends.
func (p *Process) Parse(ctx context.Context, data []byte) (mdwriter.Document, []SkippedPage, error) {
	if p.late.Load() >= maxLate {
		return mdwriter.Document{}, nil, fmt.Errorf("not read: %d PDF files before it took too long", maxLate)
	}
	timeout := cmp.Or(p.Timeout, timeoutOf(len(data)))
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limit, p.Path)
	cmd.Args = []string{os.Args[0], Argument} // a program may go by its name
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	cmd.WaitDelay = time.Second
	r, err := runWith(cmd, data, cancel)
	switch {
	case ctx.Err() != nil:
		return mdwriter.Document{}, nil, ctx.Err()
	case errors.Is(limit.Err(), context.DeadlineExceeded):
		p.late.Add(1)
		return mdwriter.Document{}, nil, fmt.Errorf("takes longer than %v to read", timeout)
	case err != nil:
		return mdwriter.Document{}, nil, err
	case r.Error != "":
		return mdwriter.Document{}, nil, errors.New(r.Error)
	}
	return r.Document, r.Left, nil
}

// runWith runs a command with a file for its result. Of a command that writes
// another thing it cancels the context.
func runWith(cmd *exec.Cmd, data []byte, cancel context.CancelFunc) (r result, err error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return r, fmt.Errorf("cannot start the reader of PDF files: %w", err)
	}
	go func() {
		in.Write(binary.BigEndian.AppendUint64(nil, uint64(len(data))))
		in.Write(data) // a process that does not read it does not answer
	}()
	if err = json.NewDecoder(io.LimitReader(out, maxOutput)).Decode(&r); err != nil {
		err = errors.New("corrupt PDF file: the process that reads it failed")
		cancel()
	}
	in.Close()
	cmd.Wait()
	return r, err
}

// Serve reads a file from in, which it takes for that of a Process, and writes
// what Parse makes of it to out. It limits the time and the memory of this
// process, and ends it when in ends.
func Serve(in io.Reader, out io.Writer) error {
	var header [8]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint64(header[:])
	if size > maxFile {
		return fmt.Errorf("a file of %d bytes is longer than %d MiB", size, maxFile>>20)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return err
	}
	limitProcess(timeoutOf(len(data)))
	go func() {
		io.Copy(io.Discard, in)
		os.Exit(1) // nobody waits any more
	}()
	var r result
	var err error
	if r.Document, r.Left, err = Parse(data); err != nil {
		const longest = 300 // the library's errors may have a part of the file in them
		r.Error = err.Error()
		if len(r.Error) > longest {
			r.Error = r.Error[:longest] + "..."
		}
	}
	return json.NewEncoder(out).Encode(r)
}
