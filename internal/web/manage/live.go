package manage

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/web"
)

const (
	// pollInterval is the time between two looks at the event log, while a stream is open.
	pollInterval = time.Second
	// minInterval is the minimum time between two updates of a page.
	minInterval = time.Second
)

// A hub wakes the streams of the open pages when the event log or a job has changed.
type hub struct {
	stamp func() string // changes with the event log

	mu      sync.Mutex
	streams map[chan struct{}]bool // each has room for one value
	polling bool
	closed  bool
}

func newHub(stamp func() string) *hub {
	return &hub{stamp: stamp, streams: map[chan struct{}]bool{}}
}

// publish wakes all streams.
func (h *hub) publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for changed := range h.streams {
		select {
		case changed <- struct{}{}:
		default: // it has not looked at the last change yet
		}
	}
}

func (h *hub) subscribe() chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := make(chan struct{}, 1)
	h.streams[changed] = true
	if !h.polling {
		h.polling = true
		go h.poll(h.stamp())
	}
	return changed
}

func (h *hub) unsubscribe(changed chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, changed)
}

// close ends the polling.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}

// poll publishes changes of the event log until no stream is open.
func (h *hub) poll(last string) {
	for {
		time.Sleep(pollInterval)
		h.mu.Lock()
		h.polling = len(h.streams) > 0 && !h.closed
		goesOn := h.polling
		h.mu.Unlock()
		if !goesOn {
			return
		}
		if now := h.stamp(); now != last {
			last = now
			h.publish()
		}
	}
}

// A content is a page that may be open for long. Its parts have the names of templates,
// which are the IDs of their elements, too.
type content struct {
	web.Page
	template string
	parts    []string
	data     any
}

// A source makes the content of a page for a request.
type source func(r *http.Request) (*content, error)

// page returns a handler that shows a content.
func (p *Pages) page(section string, make source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := make(r)
		if err != nil {
			p.fail(w, r, section, statusOf(err), err)
			return
		}
		c.Section = section
		if len(c.parts) > 0 {
			c.Stream = r.URL.Path + livePath
			if r.URL.RawQuery != "" {
				c.Stream += "?" + r.URL.RawQuery
			}
		}
		p.render(w, r, c.Page, c.template, c.data)
	}
}

// livePath is the end of the path of a page's stream.
const livePath = "/live"

// stream returns a handler that sends the changed parts of a content to an open page.
func (p *Pages) stream(section string, make source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := p.site.OpenStream(w, r)
		if err != nil {
			p.fail(w, r, section, http.StatusServiceUnavailable, err)
			return
		}
		defer out.Close()
		changed := p.live.subscribe()
		defer p.live.unsubscribe(changed)
		sent := map[string]string{}
		for first := true; first || out.Wait(changed); first = false {
			if p.sendParts(out, r, make, sent) != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(minInterval):
			}
		}
	}
}

// sendParts sends the parts that differ from the ones sent before. If the content cannot
// be made, such as that of a removed database, the status of the page says why.
func (p *Pages) sendParts(out *web.Stream, r *http.Request, make source, sent map[string]string) error {
	send := func(id, html string) error {
		if before, ok := sent[id]; before == html && (ok || html == "") {
			return nil
		}
		sent[id] = html
		return out.Send(id, html)
	}
	c, err := make(r)
	if err != nil {
		return send(statusID, problemText(err))
	}
	for _, part := range c.parts {
		var b strings.Builder
		if err := p.templates.ExecuteTemplate(&b, part, c.data); err != nil {
			return err
		}
		if err := send(part, b.String()); err != nil {
			return err
		}
	}
	return send(statusID, "")
}
