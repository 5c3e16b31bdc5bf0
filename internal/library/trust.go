package library

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/pack"
	"github.com/docsearch/docsearch/internal/usererror"
)

// TrustedKeys returns the keys that the config trusts, and the given ones.
func TrustedKeys(c Dialog, given []string) ([]pack.Key, error) {
	loaded, err := load.Load(config.Locate(os.Getenv))
	if err != nil {
		return nil, usererror.WithHint(err, "run docsearch config check to list all problems")
	}
	var keys []pack.Key
	for _, s := range given {
		k, err := pack.ParseKey(s)
		if err != nil {
			return nil, usererror.AsInvalid(err)
		}
		keys = append(keys, k)
	}
	for _, s := range loaded.Config.Publishers {
		k, err := pack.ParseKey(s)
		if err != nil {
			c.Report(fmt.Errorf("ignored a key in the config: %w", err))
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Trust returns the trusted key that signed a subject. It asks about an unknown key once;
// the caller adds the key to the config when all else is verified (see savePublisher).
func Trust(ctx context.Context, c Dialog, p Asker, s *pack.Signatures, subject pack.Subject,
	given []string) (pack.Key, error) {
	trusted, err := TrustedKeys(c, given)
	if err != nil {
		return "", err
	}
	key, rotated, err := s.Verify(subject, trusted)
	var wrong *pack.SignatureError
	switch {
	case err == nil && rotated:
		c.Say("%s has changed its key to %s, signed with the old key", key.Name(), key)
		return key, nil
	case err == nil:
		return key, nil
	case !errors.As(err, &wrong) || len(wrong.Unknown) == 0:
		return "", err
	case p == nil || wrong.Changed != "":
		return "", ExplainSignature(err)
	}
	key = wrong.Unknown[0]
	c.Say("\n%s is signed by a publisher that you do not trust yet:\n  %s\nCompare the key with the one that the publisher shows elsewhere.", subject.Name, key)
	agreed, err := p.Confirm(ctx, "Trust packs of "+key.Name()+" from now on?", false)
	if err != nil {
		return "", err
	}
	if !agreed {
		return "", usererror.WithHint(wrong, "nothing was changed; to trust the publisher, run the same command again")
	}
	return key, nil
}

// ExplainSignature adds a hint to an error about an unknown key.
func ExplainSignature(err error) error {
	var wrong *pack.SignatureError
	if !errors.As(err, &wrong) || len(wrong.Unknown) == 0 {
		return err
	}
	source := "the publisher gave you this key"
	if wrong.Changed != "" {
		source = "the publisher confirms the new key"
	}
	return usererror.WithHint(err, "if %s, pass --key %s", source, humanize.Argument(string(wrong.Unknown[0])))
}

// SavePublisher adds a key to "publishers" in the config, unless it is there.
func SavePublisher(c Dialog, key pack.Key) error {
	return AppendConfig(c, "publishers", "the publisher "+key.Name(), string(key))
}

// AppendConfig adds a value to a list in the config, unless it is there. Subject is the value for
// messages.
func AppendConfig(c Dialog, key, subject, value string) error {
	path := config.Locate(os.Getenv).Config
	if path == "" {
		return errors.New("cannot find a place for the config: DOCSEARCH_CONFIG_PATH and the home directory are not set")
	}
	change, err := agentconfig.Rewrite(path, subject,
		func(data []byte) ([]byte, error) { return edit.Append(path, data, key, value) })
	if err != nil {
		return usererror.WithHint(fmt.Errorf("cannot add %s to %s: %w", subject, path, err), "add %q to %q in %s",
			value, key, path)
	}
	if change.None() {
		return nil
	}
	if _, err := change.Apply(); err != nil {
		return fmt.Errorf("cannot add %s to %s: %w", subject, path, err)
	}
	c.Say("added %s to %s", subject, path)
	return nil
}
