package httpserver

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
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

	mu      sync.Mutex
	current *tls.Certificate
	stamps  [2]config.Stamp
	checked time.Time
}

// get returns the certificate for a handshake.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); c.current == nil || now.Sub(c.checked) >= checkTime {
		c.checked = now
		if err := c.refresh(); err != nil {
			if c.current == nil {
				return nil, err
			}
			c.log.Error("cannot reload the certificate; using the last one", "error", err)
		}
	}
	return c.current, nil
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
	if c.current != nil && now == c.stamps {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("cannot read the certificate: %w", err)
	}
	if c.current != nil {
		c.log.Info("certificate reloaded", "file", c.certFile)
	}
	c.current, c.stamps = &pair, now
	return nil
}
