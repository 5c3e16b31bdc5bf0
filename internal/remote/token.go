package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// maxToken is the maximum length of a token in bytes, and commandTime limits the time of
// the command that prints it.
const (
	maxToken    = 16 << 10
	commandTime = 5 * time.Second
)

// currentToken returns the token, from memory for a while: a command may take long.
func (c *Client) currentToken(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.readAt.IsZero() && time.Since(c.readAt) < tokenTime {
		return c.token, nil
	}
	token, err := ReadToken(ctx, &c.server)
	if err != nil {
		return "", err
	}
	c.token, c.readAt = token, time.Now()
	return token, nil
}

func (c *Client) forgetToken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readAt = time.Time{}
}

// ReadToken returns the token for a server from its file, its environment variable or its
// command, or "" if the config names none of them. Its errors do not contain the token.
func ReadToken(ctx context.Context, r *config.Remote) (string, error) {
	var text []byte
	switch {
	case r.TokenFile != "":
		data, err := atomicfile.ReadPrivate(r.TokenFile, maxToken)
		if err != nil {
			return "", err
		}
		text = data
	case r.TokenEnv != "":
		text = []byte(os.Getenv(r.TokenEnv))
	case len(r.TokenCommand) > 0:
		ctx, cancel := context.WithTimeout(ctx, commandTime)
		defer cancel()
		cmd := exec.CommandContext(ctx, r.TokenCommand[0], r.TokenCommand[1:]...)
		cmd.WaitDelay = 100 * time.Millisecond
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%s: %w", r.TokenCommand[0], err)
		}
		text = out
	default:
		return "", nil
	}
	token := string(bytes.TrimSpace(text))
	switch {
	case token == "":
		return "", errors.New("it is empty")
	case len(token) > maxToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("it is not a single word")
	}
	return token, nil
}
