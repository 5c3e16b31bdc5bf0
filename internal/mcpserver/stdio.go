package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// maxMessage is the longest message line. Tool arguments take a few hundred
	// bytes; this leaves room for clients that describe themselves at length.
	maxMessage = 4 << 20
	// maxCalls limits concurrent tool calls. Further calls wait unread.
	maxCalls = 64
	// drainTime limits calls in flight after the client has closed its input, and
	// cancelTime limits how long they may take to react to their cancellation.
	drainTime  = 10 * time.Second
	cancelTime = time.Second
)

// A stdioConn serves one client over a pair of byte streams with one JSON-RPC
// message per line. It replaces mcp-go's stdio server, which drops calls in
// flight when its input ends (a client that writes its requests and closes the
// pipe loses up to all answers), reads lines of any length, and keeps its
// session in a package variable.
//
// Tool calls run concurrently. All other messages are handled in order, so that
// initialize has finished before the next message.
type stdioConn struct {
	server *server.MCPServer
	log    *slog.Logger

	mu  sync.Mutex // guards out
	out io.Writer

	running    chan struct{}  // semaphore of tool calls
	calls      sync.WaitGroup // unanswered tool calls
	background sync.WaitGroup // goroutines that live as long as the connection
}

func newStdioConn(s *server.MCPServer, log *slog.Logger, out io.Writer) *stdioConn {
	return &stdioConn{server: s, log: log, out: out, running: make(chan struct{}, maxCalls)}
}

// serve answers messages from in on out. It returns nil when in ends and every
// call is answered, or when ctx is done.
func (s *stdioConn) serve(ctx context.Context, in io.Reader) error {
	session := server.NewInProcessSession("stdio", nil)
	if err := s.server.RegisterSession(ctx, session); err != nil {
		return err
	}
	defer s.server.UnregisterSession(context.WithoutCancel(ctx), session.SessionID())
	ctx, cancel := context.WithCancel(s.server.WithContext(ctx, session))
	defer s.finish(ctx, cancel)
	s.background.Go(func() { s.forward(ctx, session.ClientNotifications()) })

	// The reader may be blocked in a read when ctx ends; do not wait for it.
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() {
		ended <- readLines(ctx, in, lines)
	}()
	for {
		select {
		case line := <-lines:
			s.receive(ctx, line)
		case err := <-ended:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// finish waits until every call is answered. It cancels calls that take too
// long, which answers them with an error, and finally abandons them.
func (s *stdioConn) finish(ctx context.Context, cancel context.CancelFunc) {
	late := time.AfterFunc(drainTime, cancel)
	defer late.Stop()
	select {
	case <-doneChannel(&s.calls):
	case <-ctx.Done():
	}
	cancel()
	for _, group := range []*sync.WaitGroup{&s.calls, &s.background} {
		select {
		case <-doneChannel(group):
		case <-time.After(cancelTime):
		}
	}
}

// doneChannel returns a channel that is closed when group is done.
func doneChannel(group *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	return done
}

// forward sends the server's notifications, such as progress.
func (s *stdioConn) forward(ctx context.Context, notifications <-chan mcp.JSONRPCNotification) {
	for {
		select {
		case n := <-notifications:
			s.send(n)
		case <-ctx.Done():
			return
		}
	}
}

// receive handles one line. nil means that the line was too long.
func (s *stdioConn) receive(ctx context.Context, line []byte) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method mcp.MCPMethod   `json:"method"`
	}
	var wrongType *json.UnmarshalTypeError
	switch err := json.Unmarshal(line, &message); {
	case line == nil:
		s.sendError(mcp.INVALID_REQUEST, fmt.Sprintf("message exceeds %d bytes", maxMessage))
		return
	case errors.As(err, &wrongType):
		s.sendError(mcp.INVALID_REQUEST, "not a JSON-RPC message: want an object with jsonrpc, method, and id")
		return
	case err != nil:
		s.sendError(mcp.PARSE_ERROR, "invalid JSON: "+err.Error())
		return
	}
	s.log.Debug("message", "method", message.Method, "id", string(message.ID))
	switch message.Method {
	case mcp.MethodToolsCall:
		select {
		case s.running <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s.calls.Go(func() {
			defer func() { <-s.running }()
			s.handle(ctx, message.ID, line)
		})
	case mcp.MethodSubscriptionsListen:
		s.background.Go(func() { s.handle(ctx, message.ID, line) })
	default:
		s.handle(ctx, message.ID, line)
	}
}

// handle answers a message. A panic fails only that request.
func (s *stdioConn) handle(ctx context.Context, id json.RawMessage, line []byte) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic", "message", string(line), "panic", r, "stack", string(debug.Stack()))
			s.send(mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, fmt.Sprintf("internal error: %v", r),
				nil))
		}
	}()
	if answer := s.server.HandleMessage(ctx, line); answer != nil {
		s.send(answer)
	}
}

// sendError answers a message whose ID is unknown.
func (s *stdioConn) sendError(code int, why string) {
	s.log.Debug("rejected a message", "why", why)
	s.send(mcp.NewJSONRPCError(mcp.NewRequestId(nil), code, why, nil))
}

func (s *stdioConn) send(message any) {
	data, err := json.Marshal(message)
	if err != nil {
		s.log.Error("cannot encode a message", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(append(data, '\n')); err != nil {
		s.log.Error("cannot write a message", "error", err)
	}
}

// readLines sends each non-blank line of r without its newline, and nil for a
// line longer than maxMessage. The last line needs no newline. It returns nil
// at the end of r.
func readLines(ctx context.Context, r io.Reader, lines chan<- []byte) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		if line == nil || len(bytes.TrimSpace(line)) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the client's messages: %w", err)
		}
	}
}

// readLine reads a line without its newline. If the line exceeds maxMessage, it
// returns nil and the error at the end of the line, if any.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, tooLong := []byte{}, false
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxMessage+1; !tooLong {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if tooLong {
			return nil, err
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}
