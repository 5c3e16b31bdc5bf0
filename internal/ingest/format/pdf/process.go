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

// secondsOf returns the processor time for a file. Only files with which the library runs
// forever need as much: other limits end the work on a file long before.
func secondsOf(size int) uint32 { return 15 + 2*uint32(size>>20) }

// exitLate is the exit code of a process that used up its processor time.
const exitLate = 3

// maxLate is the number of files that used up their time after which no more files are
// parsed.
const maxLate = 8

// A Process parses files in separate processes, because the library can run
// forever or allocate as much as a file declares.
type Process struct {
	Path    string // program that calls Serve
	Seconds uint32 // of processor time; 0: secondsOf its size

	late atomic.Int32 // number of files that used up their time
}

// A result is the output of Serve.
type result struct {
	Document mdwriter.Document
	Left     []SkippedPage
	Error    string
}

// The input of a process is the processor time in seconds and the length of the file, in
// four bytes each, big-endian, and the file. It stays open until the process has answered; its end means
// that the caller is gone.

// Parse parses a file like the function Parse, until ctx is canceled.
func (p *Process) Parse(ctx context.Context, data []byte) (mdwriter.Document, []SkippedPage, error) {
	if p.late.Load() >= maxLate {
		return mdwriter.Document{}, nil, fmt.Errorf("not read: %d PDF files before it took too long", maxLate)
	}
	limit, cancel := context.WithCancel(ctx)
	defer cancel()
	seconds := cmp.Or(p.Seconds, secondsOf(len(data)))
	cmd := exec.CommandContext(limit, p.Path)
	cmd.Args = []string{os.Args[0], Argument} // a program may depend on its name
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	cmd.WaitDelay = time.Second
	r, err := runWith(cmd, data, seconds, cancel)
	switch {
	case ctx.Err() != nil:
		return mdwriter.Document{}, nil, ctx.Err()
	case err != nil && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitLate:
		p.late.Add(1)
		return mdwriter.Document{}, nil, fmt.Errorf("corrupt PDF file: takes more than %d s of processor time to read", seconds)
	case err != nil:
		return mdwriter.Document{}, nil, err
	case r.Error != "":
		return mdwriter.Document{}, nil, errors.New(r.Error)
	}
	return r.Document, r.Left, nil
}

// runWith runs a command with a file as input. It cancels the context of a
// command with invalid output.
func runWith(cmd *exec.Cmd, data []byte, seconds uint32, cancel context.CancelFunc) (r result, err error) {
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
		in.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, seconds), uint32(len(data))))
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
// It limits the processor time and memory of this process, and exits when in is closed.
func Serve(in io.Reader, out io.Writer) error {
	var header [8]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return err
	}
	seconds, size := binary.BigEndian.Uint32(header[:4]), binary.BigEndian.Uint32(header[4:])
	if size > maxFile {
		return fmt.Errorf("a file of %d bytes is longer than %d MiB", size, maxFile>>20)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return err
	}
	limitMemory()
	go exitAfter(time.Duration(seconds) * time.Second)
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

// exitAfter ends this process when it has used its processor time. A limit of the system
// would not tell the caller why the process ended.
func exitAfter(limit time.Duration) {
	for range time.Tick(time.Second / 4) {
		if processorTime() >= limit {
			os.Exit(exitLate)
		}
	}
}
