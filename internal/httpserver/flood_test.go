package httpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
)

// beginPost opens a connection, sends the head of a request for a body of 1,000 bytes, and
// the first one of them.
func beginPost(t *testing.T, url, path, header string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 1000\r\n\r\nt", path, header)
	return c
}

// statusOn returns the status of the response on a connection.
func statusOn(t *testing.T, c net.Conn) int {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// waitUntil waits until a condition holds.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after a minute: %s", what)
		}
	}
}

// Bodies of clients without a token that never arrive occupy neither the requests with a
// token nor the server's health, and those of one token not the others.
func TestSlowBodiesOfOthers(t *testing.T) {
	tokens := newTokens(t)
	loud, quiet := newToken(t, tokens, "loud", time.Time{}, "read"), newToken(t, tokens, "quiet", time.Time{}, "read")
	for name, attack := range map[string]struct{ path, header string }{
		"without a token":    {loginPath, "Content-Type: application/x-www-form-urlencoded\r\n"},
		"with another token": {Endpoint, "Authorization: Bearer " + loud + "\r\nContent-Type: application/json\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSiteServer(t, Options{Tokens: tokens}, mcpserver.Entry{Name: "gitlab", Path: indextest.Database(t, 100)})
			s.bodyTime, s.bodyGrace = time.Hour, time.Hour
			url, _ := start(t, s)
			for range 64 {
				beginPost(t, url, attack.path, attack.header)
			}
			// All are admitted or refused.
			waitUntil(t, "the requests have begun", func() bool {
				s.metrics.mu.Lock()
				defer s.metrics.mu.Unlock()
				refused := s.metrics.requests[requestLabels{attack.path, http.StatusTooManyRequests}]
				return s.metrics.inFlight.Load()+refused == 64
			})
			if s.metrics.inFlight.Load() == 0 {
				t.Fatal("no slow request waits")
			}
			ask := `{"databases":["gitlab"],"query":"` + indextest.Question + `"}`
			client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
			defer client.CloseIdleConnections()
			if status, _, body := send(t, client, http.MethodPost, url+remote.AnswerPath, ask, "", bearer(quiet)); status != http.StatusOK || !strings.Contains(body, indextest.Answer) {
				t.Errorf("a hook's answer beside slow bodies: status %d: %s", status, body)
			}
			if status, _, _ := send(t, client, http.MethodGet, url+healthPath, "", "", nil); status != http.StatusOK {
				t.Errorf("health: status %d", status)
			}
		})
	}
}

// A body that arrives too slowly is cut long before the time that a large one may take.
func TestBodyRate(t *testing.T) {
	tokens := newTokens(t)
	token := newToken(t, tokens, "a", time.Time{}, "read")
	s := newSiteServer(t, Options{Tokens: tokens})
	s.bodyTime, s.bodyGrace = time.Hour, 50*time.Millisecond
	url, _ := start(t, s)
	for _, c := range []net.Conn{
		beginPost(t, url, loginPath, "Content-Type: application/x-www-form-urlencoded\r\n"),
		beginPost(t, url, Endpoint, "Authorization: Bearer "+token+"\r\nContent-Type: application/json\r\n"),
	} {
		if got := statusOn(t, c); got != http.StatusRequestTimeout {
			t.Errorf("status %d, want %d", got, http.StatusRequestTimeout)
		}
	}
	// A refusal does not wait for a body either.
	if got := statusOn(t, beginPost(t, url, Endpoint, "")); got != http.StatusUnauthorized {
		t.Errorf("without a token: status %d", got)
	}
	if status, _, body := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, strings.Repeat(" ", maxBody-len(ping))+ping, "", bearer(token)); status != http.StatusOK {
		t.Errorf("a large body: status %d: %s", status, body)
	}
}

// Clients without a token have a limit by their address.
func TestAnonymousLimits(t *testing.T) {
	s := newSiteServer(t, Options{Tokens: newTokens(t), Token: "secret"})
	request := func(address string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, loginPath, nil)
		r.RemoteAddr = address
		return r
	}
	admitted := 0
	for i := range maxPerAddress + 1 {
		if _, refused := s.admitAnonymous(request(fmt.Sprintf("192.0.2.1:%d", 1000+i))); refused == nil {
			admitted++
		}
	}
	if admitted != maxPerAddress {
		t.Errorf("%d requests of one address were admitted, want %d", admitted, maxPerAddress)
	}
	for i := range maxAnonymous {
		release, refused := s.admitAnonymous(request(fmt.Sprintf("198.51.100.%d:1", i)))
		if refused == nil {
			admitted++
			defer release()
		}
	}
	if admitted != maxAnonymous {
		t.Errorf("%d requests were admitted, want %d", admitted, maxAnonymous)
	}
}

// Connections without a request keep neither clients nor health out.
func TestIdleConnections(t *testing.T) {
	url, _ := start(t, newServer(t, Options{}))
	for range maxConnections + 10 {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for path, want := range map[string]int{healthPath: 200, remote.DatabasesPath: 200} {
		if status, _, body := send(t, client, http.MethodGet, url+path, "", "", nil); status != want {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
}

// A client that does not read the metrics holds up no request.
func TestSlowReaderOfMetrics(t *testing.T) {
	s := newServer(t, Options{})
	for i := range 10_000 { // more than fits into a buffer
		s.metrics.add(&request{reason: fmt.Sprint(i)}, &response{}, 0)
	}
	slow := &blockedWriter{header: http.Header{}, writing: make(chan struct{}), release: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		s.writeMetrics(slow, httptest.NewRequest(http.MethodGet, metricsPath, nil))
		close(done)
	}()
	<-slow.writing
	if !s.metrics.mu.TryLock() {
		t.Error("requests wait for the reader of the metrics")
	} else {
		s.metrics.mu.Unlock()
	}
	close(slow.release)
	<-done
}

// A blockedWriter blocks in Write until release is closed.
type blockedWriter struct {
	header           http.Header
	once             sync.Once
	writing, release chan struct{}
}

func (w *blockedWriter) Header() http.Header { return w.header }
func (w *blockedWriter) WriteHeader(int)     {}
func (w *blockedWriter) Write(data []byte) (int, error) {
	w.once.Do(func() { close(w.writing) })
	<-w.release
	return len(data), nil
}

// An issuer that does not answer holds up only the requests that need it: they share one
// attempt, and each waits as long as it wants to.
func TestIssuerHangs(t *testing.T) {
	issuer := newTestIssuer(t)
	const public = "https://docs.example.com"
	tokens := newTokens(t)
	plain := newToken(t, tokens, "plain", time.Time{}, "read")
	s := newServer(t, Options{Tokens: tokens, Issuer: NewIssuer(issuer.url, ""), PublicURL: public})
	url, _ := start(t, s)
	jwt := issuer.token(t, public+Endpoint, nil)
	status := func(token string) int {
		status, _, _ := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, ping, "", bearer(token))
		return status
	}
	resume := issuer.hang(t)
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if got := status(jwt); got != http.StatusOK {
				t.Errorf("after the issuer has answered: status %d", got)
			}
		})
	}
	waitUntil(t, "all wait for the issuer", func() bool { return s.metrics.inFlight.Load() == 8 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, refused := s.authenticate(httptest.NewRequest(http.MethodPost, Endpoint, nil).WithContext(ctx), jwt); refused == nil || refused.status != http.StatusServiceUnavailable {
		t.Errorf("a caller that gives up: %v", refused)
	}
	if got := status(plain); got != http.StatusOK {
		t.Errorf("a token of the server meanwhile: status %d", got)
	}
	resume()
	waiting.Wait()
	if n := issuer.discoveries.Load(); n != 1 {
		t.Errorf("the issuer was asked %d times", n)
	}
	// Known keys stay usable while others are looked for.
	s.Issuer.tried = time.Time{}
	resume = issuer.hang(t)
	stranger := make(chan int)
	go func() { stranger <- status(forged(jwt)) }()
	waitUntil(t, "the issuer is asked for the unknown key", func() bool { return issuer.discoveries.Load() == 2 })
	if got := status(jwt); got != http.StatusOK {
		t.Errorf("with a known key meanwhile: status %d", got)
	}
	resume()
	if got := <-stranger; got != http.StatusUnauthorized {
		t.Errorf("with a forged signature: status %d", got)
	}
}

// A JSON Web Token is another client than a token with the name of its subject, and than
// one without a subject, in the limits and in the audit log.
func TestKindsOfClients(t *testing.T) {
	issuer := newTestIssuer(t)
	const public = "https://docs.example.com"
	tokens := newTokens(t)
	token := newToken(t, tokens, "amy", time.Time{}, "read")
	path := filepath.Join(t.TempDir(), "audit.log")
	audit, err := OpenAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	defer audit.Close()
	s := newServer(t, Options{Tokens: tokens, Issuer: NewIssuer(issuer.url, ""), PublicURL: public, Rate: 1, Audit: audit})
	url, stop := start(t, s)
	jwt := func(claims map[string]any) string {
		return issuer.token(t, public+Endpoint, func(c map[string]any) {
			delete(c, "sub")
			for k, v := range claims {
				c[k] = v
			}
		})
	}
	// Each has a burst of two requests of its own.
	for _, text := range []string{token, jwt(map[string]any{"sub": "amy"}), jwt(map[string]any{"client_id": "ci"}), jwt(map[string]any{"azp": "bot"}), jwt(nil)} {
		for i := range 2 {
			if status, _, body := send(t, http.DefaultClient, http.MethodPost, url+Endpoint, ping, "", bearer(text)); status != http.StatusOK {
				t.Errorf("request %d with %.20s: status %d: %s", i, text, status, body)
			}
		}
	}
	stop()
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(log)) {
		var entry struct{ Client, Kind string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		got = append(got, entry.Kind+"/"+entry.Client)
	}
	if want := "token/amy token/amy jwt/amy jwt/amy jwt-client/ci jwt-client/ci jwt-client/bot jwt-client/bot jwt/ jwt/"; strings.Join(got, " ") != want {
		t.Errorf("audit log: %v, want %s", got, want)
	}
}
