package web

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxStreams is the number of concurrent event streams. The script keeps one open per
// visible page, because browsers allow six connections per server.
const maxStreams = 32

const (
	// keepAlive is the time between comments that keep a stream open.
	keepAlive = 20 * time.Second
	// streamTimeout limits the time in which a browser must receive an event.
	streamTimeout = 3 * keepAlive
)

// A Stream sends server-sent events. The name of an event is the ID of an element, its
// data the HTML that the script puts into it.
type Stream struct {
	s *Server
	w http.ResponseWriter
	r *http.Request
}

// OpenStream begins a response of events. The caller must call Close when done.
func (s *Server) OpenStream(w http.ResponseWriter, r *http.Request) (*Stream, error) {
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, httpError{http.StatusServiceUnavailable, errors.New("too many pages are open; close some and reload this one")}
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
		<-s.streams
		return nil, err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	return &Stream{s, w, r}, nil
}

// Close makes room for another stream.
func (e *Stream) Close() { <-e.s.streams }

// Send replaces the contents of the element with that ID.
func (e *Stream) Send(id, html string) error {
	html = strings.NewReplacer("\r\n", "\ndata: ", "\n", "\ndata: ", "\r", "\ndata: ").Replace(html)
	return e.write("event: " + id + "\ndata: " + html + "\n\n")
}

// write sends text. A browser that does not read it loses the stream.
func (e *Stream) write(text string) error {
	out := http.NewResponseController(e.w)
	if err := out.SetWriteDeadline(time.Now().Add(streamTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(e.w, text); err != nil {
		return err
	}
	return out.Flush()
}

// Wait waits for a value of changed. It returns false when the client or the server is
// gone, or changed is closed.
func (e *Stream) Wait(changed <-chan struct{}) bool {
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case _, ok := <-changed:
			return ok
		case <-e.r.Context().Done():
			return false
		case <-e.s.stopping:
			return false
		case <-e.s.stolen:
			return false
		case <-tick.C:
			if e.write(":\n\n") != nil {
				return false
			}
		}
	}
}
