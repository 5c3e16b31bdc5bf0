package httpserver

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// An AuditLog is a file with a JSON object per request, in the order in which they ended:
//
//	{"time": "…", "msg": "request",
//	 "kind": "token",         of the client: token, shared, jwt, jwt-client; "": not known
//	 "client": "ci",          name of the token, subject or OAuth client of a JSON Web Token
//	 "remote": "10.0.0.7:51234", "method": "POST", "path": "/mcp", "status": 200,
//	 "tool": "search", "databases": ["gitlab"],  of a tool call; databases as requested
//	 "failed": true,          the tool returned an error
//	 "refused": "token",      reason of a refusal
//	 "bytes": 5120, "ms": 4.1}
//
// It contains no queries and no passages. Requests to /healthz and /readyz are omitted.
type AuditLog struct {
	path string
	log  *slog.Logger

	mu   sync.Mutex // held while a line is written: no request is answered without its line
	file *os.File
}

// OpenAudit opens the audit log at path, or creates it with mode 0600. It never follows a
// symbolic link.
func OpenAudit(path string) (*AuditLog, error) {
	a := &AuditLog{path: path}
	if err := a.Reopen(); err != nil {
		return nil, err
	}
	a.log = slog.New(slog.NewJSONHandler(a,
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
			if attr.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return attr
		}}))
	return a, nil
}

// Reopen opens the file at the path again, after the old one was renamed.
func (a *AuditLog) Reopen() error {
	f, err := confined.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	old := a.file
	a.file = f
	if old != nil {
		return old.Close()
	}
	return nil
}

// Write appends a line.
func (a *AuditLog) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return 0, errors.New("the audit log is closed")
	}
	return a.file.Write(line)
}

// Close closes the file.
func (a *AuditLog) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.file.Close()
	a.file = nil
	return err
}

// finish records the outcome of a request.
func (s *Server) finish(r *http.Request, q *request, w *response) {
	took := time.Since(q.start)
	s.metrics.add(q, w, took)
	if q.path == healthPath || q.path == readyPath {
		return
	}
	attrs := []slog.Attr{
		slog.String("kind", q.client.kind), slog.String("client", q.client.name), slog.String("remote", r.RemoteAddr),
		slog.String("method", r.Method), slog.String("path", q.path), slog.Int("status", w.status),
	}
	if q.call.Tool != "" {
		attrs = append(attrs, slog.String("tool", q.call.Tool))
	}
	if len(q.call.Databases) > 0 {
		attrs = append(attrs, slog.Any("databases", q.call.Databases))
	}
	if q.call.Failed {
		attrs = append(attrs, slog.Bool("failed", true))
	}
	if q.reason != "" {
		attrs = append(attrs, slog.String("refused", q.reason))
	}
	attrs = append(attrs, slog.Int64("bytes", w.bytes), slog.Float64("ms", float64(took.Microseconds())/1000))
	s.Log.LogAttrs(r.Context(), slog.LevelDebug, "request", attrs...)
	if s.Audit != nil {
		s.Audit.log.LogAttrs(r.Context(), slog.LevelInfo, "request", attrs...)
	}
}
