package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// downTime is how long a client prefers other nodes after a node did not answer. It
	// doubles each time that the node does not answer then, up to maxDownTime.
	downTime    = 5 * time.Second
	maxDownTime = time.Minute
)

// A node is a node of the cluster with what the client remembers of it.
type node struct {
	url      string
	failures atomic.Int32 // since the last answer
	down     atomic.Int64 // Unix time in nanoseconds until which other nodes are preferred
}

// answered records that the node answers.
func (n *node) answered() {
	n.failures.Store(0)
	n.down.Store(0)
}

// failed records that the node did not answer in time. Requests that fail together count
// once.
func (n *node) failed(now time.Time) {
	if n.isDown(now) {
		return
	}
	wait := min(downTime<<min(n.failures.Add(1)-1, 10), maxDownTime)
	n.down.Store(now.Add(wait).UnixNano())
}

// isDown reports whether other nodes are preferred.
func (n *node) isDown(now time.Time) bool { return n.down.Load() > now.UnixNano() }

// A request is sent to one node after the other until one answers it.
type request struct {
	method, path string
	body         []byte
	// decode reads the body of an answer with status 2xx. After its error, the next node
	// is asked, because a single node can be out of order. A *RefusedError means that no
	// node would accept the request. It is called again for each answer.
	decode func([]byte) error
}

// reads reports whether the request changes nothing, so that two nodes may get it.
func (r *request) reads() bool { return r.method == http.MethodGet || r.path == graphqlPath }

// into returns a request's decode function that stores the decoded answer.
func into[T any](value *T, decode func([]byte) (T, error)) func([]byte) error {
	return func(data []byte) (err error) {
		*value, err = decode(data)
		return err
	}
}

// A response is the answer of one node, or its failure.
type response struct {
	node *node
	data []byte
	err  error
}

// do sends a request. The error is a *RefusedError, wraps ErrUnavailable, or is that of
// ctx.
func (c *Client) do(ctx context.Context, r request) error {
	a := &attempt{order: c.order(), arrived: make(chan response, len(c.nodes))}
	within, cancel := context.WithCancel(ctx)
	defer cancel() // of requests to slower nodes
	next := func() {
		n := a.order[0]
		a.order = a.order[1:]
		a.waiting = append(a.waiting, n)
		go func() {
			data, err := c.ask(within, n, r)
			a.arrived <- response{n, data, err}
		}()
	}
	c.hedges.earn()
	for next(); ; {
		var late <-chan time.Time
		if c.hedge > 0 && r.reads() && len(a.order) > 0 {
			late = time.After(c.hedge)
		}
		select {
		case <-late:
			for _, n := range a.waiting {
				n.failed(time.Now())
			}
			if c.hedges.spend() {
				next()
			}
		case got := <-a.arrived:
			done, err := a.take(ctx, got, &r)
			switch {
			case done:
				return err
			case ctx.Err() != nil:
				return fmt.Errorf("%w: %w", ctx.Err(), err)
			case len(a.order) > 0:
				next()
			case len(a.waiting) == 0:
				return a.failure()
			}
		}
	}
}

// An attempt is the state of a request that some of the nodes have got.
type attempt struct {
	order    []*node // that are asked next
	waiting  []*node // that have not answered yet
	arrived  chan response
	failures []error
	refused  []*RefusedError // by nodes that may not know the schema yet
}

// take decodes the response of a node. It reports whether the request is done.
func (a *attempt) take(ctx context.Context, got response, r *request) (done bool, err error) {
	a.waiting = slices.DeleteFunc(a.waiting, func(n *node) bool { return n == got.node })
	if err = got.err; err == nil && r.decode != nil {
		err = decodeFrom(got.node, r.decode, got.data)
	}
	var refused *RefusedError
	switch {
	case err == nil:
		got.node.answered()
		return true, nil
	case errors.As(err, &refused) && !refused.maybeRestarted():
		return true, err
	case refused != nil:
		a.refused = append(a.refused, refused)
	default:
		a.failures = append(a.failures, err)
		if ctx.Err() == nil {
			got.node.failed(time.Now())
		}
	}
	return false, err
}

// decodeFrom decodes the answer of a node.
func decodeFrom(n *node, decode func([]byte) error, data []byte) error {
	err := decode(data)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		refused.URL = n.url
		return refused
	}
	if err != nil {
		return &nodeError{n.url, err}
	}
	return nil
}

// failure returns the error of a request that no node answered. It is a refusal only if
// most nodes refused it: one that has just been restarted may not know the database yet.
func (a *attempt) failure() error {
	if len(a.refused) > len(a.failures) {
		return a.refused[0]
	}
	failures := slices.Clone(a.failures)
	for _, r := range a.refused {
		failures = append(failures, r)
	}
	return &unavailableError{failures}
}

// An unavailableError contains the failure of each node.
type unavailableError struct{ failures []error }

func (e *unavailableError) Error() string {
	texts := make([]string, len(e.failures))
	for i, f := range e.failures {
		texts[i] = f.Error()
	}
	return ErrUnavailable.Error() + ": " + strings.Join(texts, "; ")
}

func (e *unavailableError) Unwrap() []error { return append([]error{ErrUnavailable}, e.failures...) }

// order returns the nodes in the order in which a request asks them. Requests take turns,
// and nodes that did not answer lately come last.
func (c *Client) order() []*node {
	first := int(c.next.Add(1)) % len(c.nodes)
	now := time.Now()
	var order, down []*node
	for _, n := range slices.Concat(c.nodes[first:], c.nodes[:first]) {
		if n.isDown(now) {
			down = append(down, n)
		} else {
			order = append(order, n)
		}
	}
	return append(order, down...)
}

const (
	// hedgeShare is the number of requests that earn one hedge, and maxHedges the number of
	// hedges that can be saved up. If all nodes are slow because of their load, further
	// requests would make them slower.
	hedgeShare = 10
	maxHedges  = 10
)

// A hedgeBudget limits the requests that are sent to a second node early.
type hedgeBudget struct {
	mu   sync.Mutex
	used int // hedges, in units of 1/hedgeShare, less those that have been earned
}

// earn counts a request.
func (b *hedgeBudget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(b.used-1, 0)
}

// spend reports whether a request may be sent to another node early, and counts that.
func (b *hedgeBudget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+hedgeShare > maxHedges*hedgeShare {
		return false
	}
	b.used += hedgeShare
	return true
}
