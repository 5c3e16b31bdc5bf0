package manage

import (
	"context"
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
	shared  map[string]func() ([]part, error) // by page
	since   time.Time                         // of the oldest of them
}

func newHub(stamp func() string) *hub {
	return &hub{stamp: stamp, streams: map[chan struct{}]bool{}, shared: map[string]func() ([]part, error){}}
}

// publish wakes all streams.
func (h *hub) publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.shared)
	for changed := range h.streams {
		select {
		case changed <- struct{}{}:
		default: // it has not looked at the last change yet
		}
	}
}

func (h *hub) subscribe() chan struct{} {
	stamp := h.stamp()
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := make(chan struct{}, 1)
	h.streams[changed] = true
	if !h.polling {
		h.polling = true
		go h.poll(stamp)
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

// share returns the result of render. The streams of one page share the result, until the
// next change or at most for minInterval.
func (h *hub) share(page string, render func() ([]part, error)) ([]part, error) {
	h.mu.Lock()
	if time.Since(h.since) >= minInterval {
		clear(h.shared)
		h.since = time.Now()
	}
	once := h.shared[page]
	if once == nil {
		once = sync.OnceValues(render)
		h.shared[page] = once
	}
	h.mu.Unlock()
	return once()
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

// A part is the HTML of an element of a page.
type part struct{ id, html string }

// page returns a handler that shows a content.
func (p *Pages) page(section string, contentOf source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := contentOf(r)
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
func (p *Pages) stream(section string, contentOf source) http.HandlerFunc {
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
			parts, err := p.live.share(r.URL.RequestURI(), func() ([]part, error) {
				return p.parts(r.WithContext(context.WithoutCancel(r.Context())), contentOf)
			})
			if err != nil || sendChanged(out, parts, sent) != nil {
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

// parts returns the parts of a content. If the content cannot be made, such as that of a
// removed database, the status of the page says why.
func (p *Pages) parts(r *http.Request, contentOf source) ([]part, error) {
	c, err := contentOf(r)
	if err != nil {
		return []part{{statusID, problemText(err)}}, nil
	}
	var all []part
	for _, id := range c.parts {
		var b strings.Builder
		if err := p.templates.ExecuteTemplate(&b, id, c.data); err != nil {
			return nil, err
		}
		all = append(all, part{id, b.String()})
	}
	return append(all, part{statusID, ""}), nil
}

// sendChanged sends the parts that differ from the ones sent before.
func sendChanged(out *web.Stream, parts []part, sent map[string]string) error {
	for _, p := range parts {
		if before, ok := sent[p.id]; before == p.html && (ok || p.html == "") {
			continue
		}
		sent[p.id] = p.html
		if err := out.Send(p.id, p.html); err != nil {
			return err
		}
	}
	return nil
}
