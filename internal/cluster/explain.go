package cluster

import (
	"errors"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Arguments returns the options as the flags of a command, with the nodes as the value of
// --flag.
func (o *Options) Arguments(flag string) string {
	text := "--" + flag + " " + humanize.Argument(strings.Join(o.URLs, ","))
	if o.KeyVariable != "" {
		text += " --api-key-env " + humanize.Argument(o.KeyVariable)
	}
	if o.PlainHTTP {
		text += " --plain-http"
	}
	return text
}

// Explain adds the hint to an error of a cluster with these options.
func (o *Options) Explain(err error) error {
	var missing *MissingMatchesError
	var refused *RefusedError
	switch {
	case errors.As(err, &missing):
		return usererror.WithHint(err, "set %s on every node and restart it", PruningSetting)
	case errors.Is(err, ErrNoDatabase):
		return usererror.WithHint(err, "run docsearch list %s to list its databases", o.Arguments("cluster"))
	case errors.As(err, &refused) && refused.Status == 401 && o.KeyVariable == "":
		return usererror.WithHint(err, "pass --api-key-env VAR with the name of the variable that contains the key")
	}
	return err
}
