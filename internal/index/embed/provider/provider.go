// Package provider embeds texts over HTTP, with Ollama or a server that supports
// OpenAI's API, and caches the vectors. It sends texts only to the configured
// address: a redirect to another host is an error.
package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/safetext"
)

// Options of a provider. A zero value selects the default.
type Options struct {
	URL   string // of the server; Ollama's default is on localhost
	Model string // required
	Key   string // sent as a bearer token; never part of an error or ID
	// Dimensions is the dimensionality to request, for models that support
	// several; 0 is the model's default.
	Dimensions int
	// The templates are the prompts for queries and documents. {text} is
	// replaced by the text; without {text}, the template is a prefix.
	QueryTemplate    string
	DocumentTemplate string
	Batch            int           // maximum texts per request; default 64
	Parallel         int           // maximum concurrent requests; default 2
	Timeout          time.Duration // of one request; default two minutes
	Pause            time.Duration // before the first retry, doubled for each further one; default half a second
}

const (
	ollamaURL     = "http://127.0.0.1:11434"
	batchBytes    = 256 << 10 // of text in a request, unless one text is longer
	maxAttempts   = 5         // of a request for documents; queries are interactive and have one
	maxRetryDelay = 2 * time.Minute
	maxResponse   = 512 << 20
	maxMessage    = 300 // bytes of the server message in an error
)

// A protocol is the API of one kind of server.
type protocol struct {
	name  string
	path  string
	body  func(r *httpProvider, texts []string) any
	parse func(response []byte) ([][]float32, error)
	hint  func(r *httpProvider, status int) string // advice for an error, or ""; status 0: no response
}

// An httpProvider is a Provider that sends requests to a server.
type httpProvider struct {
	Options
	protocol
	base       *url.URL
	client     *http.Client
	dimensions atomic.Int64 // 0 before the first vector
}

// Ollama returns a provider for an Ollama server.
func Ollama(o Options) (embed.Provider, error) {
	o.URL = cmp.Or(o.URL, ollamaURL)
	return newHTTPProvider(o, protocol{
		name: "ollama",
		path: "api/embed",
		body: func(r *httpProvider, texts []string) any {
			return struct {
				Model      string   `json:"model"`
				Input      []string `json:"input"`
				Truncate   bool     `json:"truncate"`
				Dimensions int      `json:"dimensions,omitempty"`
			}{r.Model, texts, true, r.Options.Dimensions}
		},
		parse: func(response []byte) ([][]float32, error) {
			var a struct {
				Embeddings [][]float32 `json:"embeddings"`
			}
			err := json.Unmarshal(response, &a)
			return a.Embeddings, err
		},
		hint: func(r *httpProvider, status int) string {
			switch status {
			case 0:
				return "to start the server, run: ollama serve"
			case http.StatusNotFound:
				return "to download the model, run: ollama pull " + r.Model
			}
			return ""
		},
	})
}

// OpenAI returns a provider for a server that supports OpenAI's API. The URL ends
// before /embeddings, usually in /v1.
func OpenAI(o Options) (embed.Provider, error) {
	return newHTTPProvider(o, protocol{
		name: "openai",
		path: "embeddings",
		body: func(r *httpProvider, texts []string) any {
			return struct {
				Model      string   `json:"model"`
				Input      []string `json:"input"`
				Format     string   `json:"encoding_format"`
				Dimensions int      `json:"dimensions,omitempty"`
			}{r.Model, texts, "float", r.Options.Dimensions}
		},
		parse: parseOpenAI,
		hint: func(_ *httpProvider, status int) string {
			switch status {
			case http.StatusUnauthorized, http.StatusForbidden:
				return "check the API key"
			case http.StatusNotFound:
				return "check the model name, and that the URL ends in /v1"
			}
			return ""
		},
	})
}

// parseOpenAI returns the vectors in the order of the texts. Some servers send
// base64 although the request asks for floats.
func parseOpenAI(response []byte) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding embedding `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(response, &a); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(a.Data))
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(vectors) || vectors[at] != nil {
			return nil, fmt.Errorf("vector %d of %d is duplicate or missing", at, len(vectors))
		}
		vectors[at] = d.Embedding
	}
	return vectors, nil
}

func newHTTPProvider(o Options, p protocol) (embed.Provider, error) {
	if o.Model == "" {
		return nil, fmt.Errorf("embedder %s: missing model", p.name)
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		// The error of url.Parse quotes the URL, which may contain a password.
		return nil, fmt.Errorf("embedder %s: invalid url", p.name)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("embedder %s: invalid url %q: want http:// or https://", p.name, base.Redacted())
	}
	o.Batch, o.Parallel = cmp.Or(o.Batch, 64), cmp.Or(o.Parallel, 2)
	o.Timeout, o.Pause = cmp.Or(o.Timeout, 2*time.Minute), cmp.Or(o.Pause, time.Second/2)
	r := &httpProvider{Options: o, protocol: p, base: base}
	r.client = &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if req.URL.Host != base.Host || len(via) > 3 {
			return fmt.Errorf("redirected to %s, which is not configured", req.URL.Host)
		}
		return nil
	}}
	return r, nil
}

// ID returns the protocol, the model, and all options that affect vectors.
func (r *httpProvider) ID() string {
	id := r.name + ":" + r.Model
	if r.Options.Dimensions > 0 {
		id += ":" + strconv.Itoa(r.Options.Dimensions)
	}
	if r.QueryTemplate+r.DocumentTemplate != "" {
		sum := fnv.New32a()
		fmt.Fprintf(sum, "%q %q", r.QueryTemplate, r.DocumentTemplate)
		id += fmt.Sprintf("#%08x", sum.Sum32())
	}
	return id
}

// Dimensions returns the dimensionality of received vectors, or else the
// requested one.
func (r *httpProvider) Dimensions() int {
	return cmp.Or(int(r.dimensions.Load()), r.Options.Dimensions)
}

// Embed requests the vectors in concurrent batches. The first error cancels the
// other requests.
func (r *httpProvider) Embed(ctx context.Context, kind embed.Kind, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	sent := make([]string, len(texts))
	for i, t := range texts {
		sent[i] = r.applyTemplate(kind, t)
	}
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(r.Parallel)
	for from := 0; from < len(sent) && groupCtx.Err() == nil; {
		to := r.batchEnd(sent, from)
		batch, out := sent[from:to], vectors[from:to]
		g.Go(func() error {
			got, err := r.embedBatch(groupCtx, kind, batch)
			copy(out, got)
			return err
		})
		from = to
	}
	err := g.Wait()
	if err = cmp.Or(context.Cause(ctx), err); err != nil {
		return nil, &Error{fmt.Sprintf("cannot embed with %s model %s at %s", r.name, r.Model, r.base.Redacted()), err}
	}
	return vectors, nil
}

// An Error is returned by Embed if the server returned no usable vectors.
type Error struct {
	action string
	err    error
}

func (e *Error) Error() string { return e.action + ": " + e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

func (r *httpProvider) applyTemplate(kind embed.Kind, text string) string {
	template := r.DocumentTemplate
	if kind == embed.Query {
		template = r.QueryTemplate
	}
	if strings.Contains(template, "{text}") {
		return strings.ReplaceAll(template, "{text}", text)
	}
	return template + text
}

// batchEnd returns the end of the batch that begins at from.
func (r *httpProvider) batchEnd(texts []string, from int) int {
	bytes := 0
	for i := from; i < len(texts); i++ {
		bytes += len(texts[i])
		if i > from && (i-from == r.Batch || bytes > batchBytes) {
			return i
		}
	}
	return len(texts)
}

// embedBatch sends a request for one batch. It retries documents after errors
// that may be temporary.
func (r *httpProvider) embedBatch(ctx context.Context, kind embed.Kind, texts []string) ([][]float32, error) {
	body, err := json.Marshal(r.body(r, texts))
	if err != nil {
		return nil, err
	}
	pause := r.Pause
	for attempt := 1; ; attempt++ {
		response, err := r.post(ctx, body)
		if err == nil {
			return r.decode(response, len(texts))
		}
		var failed *requestError
		if errors.As(err, &failed) && !failed.retryable || kind == embed.Query || attempt == maxAttempts ||
			ctx.Err() != nil {
			return nil, err
		}
		wait := pause
		if failed != nil {
			wait = max(wait, failed.retryAfter)
		}
		if deadline, ok := ctx.Deadline(); wait > maxRetryDelay || ok && time.Now().Add(wait).After(deadline) {
			return nil, fmt.Errorf("%w; no time left to retry in %v", err, wait)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
		pause *= 2
	}
}

// decode parses and validates the vectors of a response.
func (r *httpProvider) decode(response []byte, texts int) ([][]float32, error) {
	vectors, err := r.parse(response)
	if err != nil {
		return nil, fmt.Errorf("cannot read the response: %w", err)
	}
	if len(vectors) != texts {
		return nil, fmt.Errorf("got %d vectors for %d texts", len(vectors), texts)
	}
	for _, v := range vectors {
		length := int64(len(v))
		r.dimensions.CompareAndSwap(0, length)
		want := cmp.Or(int64(r.Options.Dimensions), r.dimensions.Load())
		if length == 0 || length != want {
			return nil, fmt.Errorf("got a vector with %d dimensions, want %d: the model may have changed", length, want)
		}
		for _, x := range v {
			if x64 := float64(x); math.IsNaN(x64) || math.IsInf(x64, 0) {
				return nil, errors.New("got a vector with non-finite numbers")
			}
		}
	}
	return vectors, nil
}

// A requestError is a failed request.
type requestError struct {
	status     int // HTTP status, or 0 without a response
	message    string
	hint       string
	retryable  bool          // the error may be temporary
	retryAfter time.Duration // delay that the server requests
	err        error
}

func (f *requestError) Error() string {
	s := f.message
	if f.status != 0 {
		s = strings.TrimSuffix(fmt.Sprintf("status %d: %s", f.status, f.message), ": ")
	}
	if f.hint != "" {
		s += ": " + f.hint
	}
	return s
}

func (f *requestError) Unwrap() error { return f.err }

// post sends one request and returns the response body.
func (r *httpProvider) post(ctx context.Context, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base.JoinPath(r.path).String(),
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if r.Key != "" {
		req.Header.Set("Authorization", "Bearer "+r.Key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, r.transportError(err)
	}
	defer resp.Body.Close()
	response, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, r.transportError(err)
	}
	if len(response) > maxResponse {
		return nil, &requestError{status: resp.StatusCode, message: "the response is too large"}
	}
	if resp.StatusCode == http.StatusOK {
		return response, nil
	}
	return nil, &requestError{
		status:  resp.StatusCode,
		message: r.errorMessage(response),
		hint:    r.hint(r, resp.StatusCode),
		retryable: resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode == http.StatusTooManyRequests ||
			resp.StatusCode >= 500,
		retryAfter: retryAfter(resp.Header.Get("Retry-After"), time.Now()),
	}
}

// transportError returns the error of a request without a response. It omits the
// URL in err, which may contain a password.
func (r *httpProvider) transportError(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	f := &requestError{message: err.Error(), retryable: true, err: err}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED) {
		f.hint = r.hint(r, 0)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		f.message = fmt.Sprintf("timeout after %v", r.Timeout)
	}
	return f
}

// errorMessage extracts the server's message from the body of an error response.
func (r *httpProvider) errorMessage(body []byte) string {
	var a struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	var nested struct {
		Message string `json:"message"`
	}
	var text string
	s := string(body)
	if json.Unmarshal(body, &a) == nil {
		for _, raw := range []json.RawMessage{a.Error, a.Detail} {
			switch {
			case json.Unmarshal(raw, &nested) == nil && nested.Message != "":
				s = nested.Message
			case json.Unmarshal(raw, &text) == nil && text != "":
				s = text
			}
		}
	}
	s = safetext.Line(s)
	if r.Key != "" {
		s = strings.ReplaceAll(s, r.Key, "[key]")
	}
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}

// retryAfter parses a Retry-After header: seconds or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
