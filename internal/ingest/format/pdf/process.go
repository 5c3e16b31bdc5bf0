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

// Argument is the argument with which a program must call Serve.
const Argument = "read-pdf"

// Limits of the process.
const (
	maxFile   = 64 << 20 // bytes of a file
	maxMemory = 4 << 30  // bytes of address space, where the system supports a limit
	maxOutput = 1 << 30  // bytes of a result
)

// timeoutOf returns the timeout for a file of that size. Manuals take about 0.2
// s per megabyte.
func timeoutOf(size int) time.Duration { return 15*time.Second + time.Duration(size>>20)*2*time.Second }

// maxLate is the number of timeouts after which no more files are parsed.
const maxLate = 8

// A Process parses files in separate processes, because the library can run
// forever or allocate as much as a file declares.
type Process struct {
	Path    string        // program that calls Serve
	Timeout time.Duration // 0: depends on the file's size

	late atomic.Int32 // number of timeouts
}

// A result is the output of Serve.
type result struct {
	Document mdwriter.Document
	Left     []SkippedPage
	Error    string
}

// The input of a process is the length of the file in eight bytes, big-endian,
// and the file. It stays open until the process has answered; its end means
// that the caller is gone.

// Parse parses a file like the function Parse, until ctx is canceled.
func (p *Process) Parse(ctx context.Context, data []byte) (mdwriter.Document, []SkippedPage, error) {
	if p.late.Load() >= maxLate {
		return mdwriter.Document{}, nil, fmt.Errorf("not read: %d PDF files before it took too long", maxLate)
	}
	timeout := cmp.Or(p.Timeout, timeoutOf(len(data)))
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limit, p.Path)
	cmd.Args = []string{os.Args[0], Argument} // a program may depend on its name
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

// runWith runs a command with a file as input. It cancels the context of a
// command with invalid output.
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
		in.Write(data) // a process that does not read its input does not answer either
	}()
	if err = json.NewDecoder(io.LimitReader(out, maxOutput)).Decode(&r); err != nil {
		err = errors.New("corrupt PDF file: the process that reads it failed")
		cancel()
	}
	in.Close()
	cmd.Wait()
	return r, err
}

// Serve parses a file that a Process sends on in, and writes the result to out.
// It limits the time and memory of this process, and exits when in is closed.
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
		os.Exit(1) // the caller is gone
	}()
	var r result
	var err error
	if r.Document, r.Left, err = Parse(data); err != nil {
		const longest = 300 // errors of the library may quote the file
		r.Error = err.Error()
		if len(r.Error) > longest {
			r.Error = r.Error[:longest] + "..."
		}
	}
	return json.NewEncoder(out).Encode(r)
}
