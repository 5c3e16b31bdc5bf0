package remote

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

// The relay is a Unix socket of "docsearch serve", through which hooks of the same user
// ask servers: the connection to a server is open already, and its token is known. A
// request is that of AnswerPath with the URL of the server in a header. Only the user can
// access the folder of the socket.

const serverHeader = "Docsearch-Server"

// ErrNoRelay reports that a relay does not know a server.
var ErrNoRelay = errors.New("no relay")

// An Asker sends the body of a hook's request to the server or cluster at a URL and returns
// the body of the response. The error is ErrNoRelay for an unknown URL.
type Asker func(ctx context.Context, url string, body []byte) ([]byte, error)

// relayRetry is the time after which a process tries to take over the relay of another
// one that has ended.
const relayRetry = 10 * time.Second

// ServeRelay serves the relay until ctx is done, as soon as no other process does.
func ServeRelay(ctx context.Context, l config.Locations, ask Asker, log *slog.Logger) {
	dir, socket := config.RelayPath(l)
	if dir == "" {
		return
	}
	for {
		if err := serveRelay(ctx, dir, socket, ask); err != nil && !errors.Is(err, filelock.ErrLocked) {
			log.Debug("no relay", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(relayRetry):
		}
	}
}

func serveRelay(ctx context.Context, dir, socket string, ask Asker) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !st.IsDir() || atomicfile.IsExposed(st.Mode()) {
		return errors.New(dir + " is not a private folder")
	}
	lock, err := filelock.TryLock(socket + ".lock")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) { // of a killed process
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Clean(socket))
	if err != nil {
		return err
	}
	server := &http.Server{ReadTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, Handler: relayHandler(ask)}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// relayHandler forwards requests to their servers.
func relayHandler(ask Asker) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != AnswerPath || r.Method != http.MethodPost {
			http.Error(w, ErrNoRelay.Error(), http.StatusNotFound)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8*lexical.MaxQuery))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := ask(r.Context(), r.Header.Get(serverHeader), body)
		var refused *RefusedError
		var token *TokenError
		switch {
		case errors.Is(err, ErrNoRelay):
			http.Error(w, ErrNoRelay.Error(), http.StatusNotFound)
		case errors.As(err, &token):
			http.Error(w, token.Error(), http.StatusFailedDependency)
		case errors.As(err, &refused):
			http.Error(w, refused.Text, refused.Status)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
		default:
			_, _ = w.Write(data)
		}
	})
}

// throughRelay sends the body of a request to a server through the relay. The error is
// ErrNoRelay, or that of the dialer, if there is none for the server.
func throughRelay(ctx context.Context, l config.Locations, url string, body []byte) ([]byte, error) {
	dir, socket := config.RelayPath(l)
	if dir == "" {
		return nil, ErrNoRelay
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	data, err := exchange(ctx, client, http.MethodPost, "http://relay", AnswerPath, body,
		func(h http.Header) { h.Set(serverHeader, url) })
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		if refused.Status == http.StatusNotFound && refused.Text == ErrNoRelay.Error() {
			return nil, ErrNoRelay
		}
		refused.URL = url
	}
	return data, err
}
