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
	// maxMessage is the longest line that is read as a message. A tool's
	// arguments are a few hundred bytes; this leaves room for a client that
	// sends much more about itself.
	maxMessage = 4 << 20
	// maxCalls is how many tool calls run at once. Further ones wait unread.
	maxCalls = 64
	// drainTime is how long calls in flight may take after the client has
	// closed its end, cancelTime how long they may take to notice that they
	// are cancelled.
	drainTime  = 10 * time.Second
	cancelTime = time.Second
)

// A stream serves one client over a pair of byte streams, a JSON-RPC message
// a line. mcp-go's own stdio server is not used, because it drops the calls
// that are in flight when its input ends (a client that writes its requests
// and closes the pipe loses up to all answers), reads lines of any length,
// and keeps its session in a package variable.
//
// Tool calls run beside one another, everything else in the order of its
// arrival, so that what follows initialize finds it done.
type stdioConn struct {
	server *server.MCPServer
	log    *slog.Logger

	mu  sync.Mutex // of out
	out io.Writer

	running    chan struct{}  // taken by the calls that run
	calls      sync.WaitGroup // each is answered
	background sync.WaitGroup // what lasts as long as the connection
}

func newStdioConn(s *server.MCPServer, log *slog.Logger, out io.Writer) *stdioConn {
	return &stdioConn{server: s, log: log, out: out, running: make(chan struct{}, maxCalls)}
}

// serve answers in's messages on out until in ends and every call is
// answered, or ctx is done. Neither is an error.
func (s *stdioConn) serve(ctx context.Context, in io.Reader) error {
	session := server.NewInProcessSession("stdio", nil)
	if err := s.server.RegisterSession(ctx, session); err != nil {
		return err
	}
	defer s.server.UnregisterSession(context.WithoutCancel(ctx), session.SessionID())
	ctx, cancel := context.WithCancel(s.server.WithContext(ctx, session))
	defer s.finish(ctx, cancel)
	s.background.Go(func() { s.forward(ctx, session.ClientNotifications()) })

	// The reader may be stuck in a read when ctx ends; it must not keep the
	// rest from ending.
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

// finish waits until every call is answered. Calls that take too long are
// cancelled, which answers them with an error, and then given up.
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

// doneChannel is closed when group is done.
func doneChannel(group *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	return done
}

// forward sends what the server has to say unasked, such as progress.
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

// receive deals with one line. A nil line stands for one that was too long.
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

// handle answers a message. A panic is one request's failure, not the
// server's.
func (s *stdioConn) handle(ctx context.Context, id json.RawMessage, line []byte) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic", "message", string(line), "panic", r, "stack", string(debug.Stack()))
			s.send(mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, fmt.Sprintf("internal error: %v", r), nil))
		}
	}()
	if answer := s.server.HandleMessage(ctx, line); answer != nil {
		s.send(answer)
	}
}

// sendError answers a message whose id is not known.
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

// readLines sends each line of r that is not blank, without its newline; a
// line longer than maxMessage as nil. The last line needs no newline. It
// returns nil at r's end.
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

// readLine reads a line without its newline; nil and what ended it if it is
// longer than maxMessage.
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
