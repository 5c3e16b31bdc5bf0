package httpserver

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/config"
)

// checkTime is the minimum time between two looks at the certificate's files.
const checkTime = time.Second

// A certificate is a TLS certificate in two PEM files, which are read again when they
// change. If they cannot be read, the last certificate stays.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	current atomic.Pointer[tls.Certificate]
	mu      sync.Mutex // held by the one that reads the files; a handshake never waits for it
	stamps  [2]config.Stamp
	checked time.Time
}

// get returns the certificate for a handshake. It does not wait for one that reads the
// files already.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.mu.TryLock() {
		defer c.mu.Unlock()
		if now := time.Now(); now.Sub(c.checked) >= checkTime {
			c.checked = now
			if err := c.refresh(); err != nil {
				if c.current.Load() == nil {
					return nil, err
				}
				c.log.Error("cannot reload the certificate; using the last one", "error", err)
			}
		}
	}
	return c.current.Load(), nil
}

// reload reads the files even if they have not changed.
func (c *certificate) reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamps = [2]config.Stamp{}
	return c.refresh()
}

func (c *certificate) refresh() error {
	var now [2]config.Stamp
	for i, path := range [2]string{c.certFile, c.keyFile} {
		var err error
		if now[i], err = config.StampOf(path); err != nil {
			return fmt.Errorf("cannot read the certificate: %w", err)
		}
	}
	old := c.current.Load()
	if old != nil && now == c.stamps {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("cannot read the certificate: %w", err)
	}
	if old != nil {
		c.log.Info("certificate reloaded", "file", c.certFile)
	}
	c.current.Store(&pair)
	c.stamps = now
	return nil
}
