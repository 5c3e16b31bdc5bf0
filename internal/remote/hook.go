package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/safetext"
)

// margin is the time that the hook needs after the response of a server.
const margin = 60 * time.Millisecond

// clusterTime limits the answer of a cluster, through the relay.
const clusterTime = 500 * time.Millisecond

// A Hook asks servers for one run of the hook. It asks each server once per search, for
// all its databases that match. It is a lookup.Remote.
type Hook struct {
	config    *config.Config
	locations config.Locations
	deadline  time.Time // of the run

	asked map[question]outcome
}

// A question identifies a request within a run.
type question struct {
	server, query, url string
}

type outcome struct {
	answers Answers
	err     error
}

// NewHook returns a Hook for a run that must end before deadline.
func NewHook(c *config.Config, l config.Locations, deadline time.Time) *Hook {
	return &Hook{config: c, locations: l, deadline: deadline, asked: map[question]outcome{}}
}

// Search searches a database of a server.
func (h *Hook) Search(db *config.Database, s event.Search) (hook.Answer, error) {
	request := AnswerRequest{Databases: []string{db.RemoteName}, Query: s.Query, Limited: match.Limited(s)}
	for _, other := range match.Databases(s, h.config) {
		if other.Remote == db.Remote && !slices.Contains(request.Databases, other.RemoteName) {
			request.Databases = append(request.Databases, other.RemoteName)
			request.Used.put(other.RemoteName, other.Used)
		}
	}
	request.Used.put(db.RemoteName, db.Used)
	a, err := h.ask(db, question{db.Remote, s.Query, ""}, request)
	return a.answer(), err
}

// Page looks up a page in a database of a server.
func (h *Hook) Page(db *config.Database, f event.Fetch) (hook.Answer, bool, error) {
	names := []string{}
	for _, other := range h.config.Databases {
		if other.Remote == db.Remote && len(other.URLs) > 0 && len(names) < MaxDatabases {
			names = append(names, other.RemoteName)
		}
	}
	a, err := h.ask(db, question{db.Remote, f.Prompt, f.URL},
		AnswerRequest{Databases: names, URL: f.URL, Prompt: f.Prompt})
	return a.answer(), a.Held, err
}

// answer converts a received answer.
func (a *Answer) answer() hook.Answer {
	return hook.Answer{Passages: passagesOf(a.Passages), Whole: a.Whole, Confidence: probability(a.Confidence),
		Confident: a.Confident, Version: safetext.Line(a.Version), Weights: a.Weights}
}

// ask sends a question to the server of a database, unless it has been sent, and returns
// the database's answer.
func (h *Hook) ask(db *config.Database, key question, request AnswerRequest) (Answer, error) {
	got, done := h.asked[key]
	if !done {
		got.answers, got.err = h.send(db.Remote, request)
		h.asked[key] = got
	}
	if got.err != nil {
		return Answer{}, got.err
	}
	a, ok := got.answers.Databases[db.RemoteName]
	switch {
	case !ok:
		return Answer{}, errMissing
	case a.Error != "":
		return Answer{}, fmt.Errorf("%s: %s", db.Remote, reported(a.Error))
	}
	return a, nil
}

// send asks a server. If the server does not answer in time, or not as agreed, send
// records that, so that the next runs do not wait for it.
func (h *Hook) send(url string, request AnswerRequest) (Answers, error) {
	server, timeout := h.server(url)
	if timeout == 0 {
		return Answers{}, fmt.Errorf("server %s is not in the config", url)
	}
	body, err := json.Marshal(request)
	if err != nil {
		return Answers{}, err
	}
	deadline := time.Now().Add(timeout)
	if last := h.deadline.Add(-margin); last.Before(deadline) {
		deadline = last
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	answers, err := h.exchange(ctx, server, url, body)
	var refused *RefusedError
	var token *TokenError
	if errors.Is(err, errNotRunning) || errors.As(err, &token) ||
		errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests {
		return answers, err // the user can fix it
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", hook.ErrUnavailable, err)
	}
	if recordErr := config.SetRemoteDown(h.locations, url, err != nil); recordErr != nil {
		err = errors.Join(err, recordErr)
	}
	return answers, err
}

// server returns a server of the config, nil for a cluster, and the time for its answer, 0
// if the config has neither.
func (h *Hook) server(url string) (*config.Remote, time.Duration) {
	for i := range h.config.Remotes {
		if r := &h.config.Remotes[i]; r.URL == url {
			return r, time.Duration(r.TimeoutMS) * time.Millisecond
		}
	}
	for i := range h.config.Clustered {
		if h.config.Clustered[i].Cluster.URLs[0] == url {
			return nil, clusterTime
		}
	}
	return nil, 0
}

// errNotRunning reports that only "docsearch serve" could ask a cluster: a hook has no time
// to connect to one and read its statistics.
var errNotRunning = errors.New("no docsearch serve is running that can ask the cluster")

// exchange sends the request through the relay, whose connection is open already, or else
// directly. server is nil for a cluster.
func (h *Hook) exchange(ctx context.Context, server *config.Remote, url string, body []byte) (Answers, error) {
	data, err := throughRelay(ctx, h.locations, url, body)
	if noRelay, ok := errors.AsType[*net.OpError](err); ok && noRelay.Op == "dial" || errors.Is(err, ErrNoRelay) {
		if server == nil {
			return Answers{}, errNotRunning
		}
		c := NewClient(*server)
		defer c.Close()
		data, err = c.Answer(ctx, body)
	}
	if err != nil {
		return Answers{}, err
	}
	return decode[Answers](data)
}
