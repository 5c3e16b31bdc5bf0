package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/edit"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/remote"
)

// serverFlags are the flags of setup for a server of a team.
type serverFlags struct {
	url, tokenFile, tokenEnv string
	mirror                   bool
	keys                     []string // public keys of publishers
}

func (s *serverFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.url, "server", "", "add the databases of the docsearch server at `URL` instead of building one")
	f.StringVar(&s.tokenFile, "token-file", "", "read the token for the server from `FILE`, which only you can access")
	f.StringVar(&s.tokenEnv, "token-env", "", "read the token for the server from environment variable `VAR`")
	f.BoolVar(&s.mirror, "mirror", false,
		"keep the server's packs on this machine, so that the hook uses them without the network")
	f.StringArrayVar(&s.keys, "key", nil,
		"trust the public key `KEY` of a publisher from now on (with --mirror; repeatable)")
}

// entry returns the config entry of the server.
func (s *serverFlags) entry() (edit.Server, config.Remote, error) {
	url := strings.TrimRight(s.url, "/")
	if !config.IsServerURL(url) {
		return edit.Server{}, config.Remote{},
			usagef("invalid --server %q: want https:// and a host, or http:// on this machine", s.url)
	}
	e := edit.Server{URL: url, TokenEnv: s.tokenEnv, Mirror: s.mirror}
	if s.tokenFile != "" {
		path, err := filepath.Abs(config.Expand(s.tokenFile, config.Home(os.Getenv)))
		if err != nil {
			return e, config.Remote{}, err
		}
		e.TokenFile = path
	}
	return e, config.Remote{URL: e.URL, TokenFile: e.TokenFile, TokenEnv: e.TokenEnv,
		TimeoutMS: config.DefaultRemoteTimeoutMS, Mirror: s.mirror}, nil
}

// runServer adds a server to the config, and connects the agents.
func (s *setupCommand) runServer(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.prompter.MayAsk(fmt.Sprintf("Add the databases of %s to %s?", s.server.url, s.locations.Config),
		s.yes); err != nil {
		return err
	}
	if err := s.runSteps(ctx, s.checkServer, s.writeServer, s.mirrorServer, s.installClients); err != nil {
		return err
	}
	s.summarize()
	return nil
}

// checkServer downloads the list of the server's databases.
func (s *setupCommand) checkServer(ctx context.Context) error {
	s.Step("Connect to the server")
	fmt.Fprintln(s.stdout)
	_, server, err := s.server.entry()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, served.RemoteTimeout)
	defer cancel()
	client := remote.NewClient(server)
	defer client.Close()
	databases, _, err := remote.Fetch(ctx, client, s.locations)
	var refused *remote.RefusedError
	switch {
	case errors.As(err, &refused) && refused.Status == 401 && s.server.tokenFile+s.server.tokenEnv == "":
		return withHint(err, "pass --token-file FILE with the token that the server's administrator gave you")
	case errors.As(err, &refused) && refused.Status == 401:
		return withHint(err, "ask the server's administrator for a token: docsearch token new NAME")
	case err != nil:
		return fmt.Errorf("cannot list the databases of %s: %w", server.URL, err)
	case len(databases) == 0:
		return withHint(fmt.Errorf("%s has no database that you may read", server.URL),
			"ask the server's administrator for a token with other permissions")
	}
	fmt.Fprintf(s.stdout, "%s has %s:\n", client.Host(), count(len(databases), "database"))
	for _, db := range databases {
		note := ""
		if s.server.mirror && db.Pack == "" {
			note = "; not mirrored, because it did not come as a pack from a URL"
		}
		fmt.Fprintf(s.stdout, "  %s: %s (keywords: %s)%s\n", printable(db.Name), printable(db.Description),
			printable(strings.Join(db.Keywords, ", ")), note)
	}
	s.Text(fmt.Sprintf("A web search that contains one of these keywords, or a page of these databases that the agent "+
		"fetches, is sent to %s with your token. So are the agent's calls of the search tool. Nothing else is sent.",
		client.Host()))
	fmt.Fprintln(s.stdout)
	return nil
}

// writeServer adds the server to the config.
func (s *setupCommand) writeServer(ctx context.Context) error {
	s.Step("Add it to the config")
	e, _, err := s.server.entry()
	if err != nil {
		return err
	}
	path := s.locations.Config
	change, err := agentconfig.Rewrite(path, "the server "+e.URL,
		func(data []byte) ([]byte, error) { return edit.PutServer(path, data, e) })
	if errors.Is(err, edit.ErrManualEdit) {
		return withHint(err, "edit the entry %s of \"servers\" in %s", e.URL, path)
	}
	if err != nil {
		return withHint(err, "run docsearch config check to list all problems")
	}
	if change.None() {
		fmt.Fprintf(s.stdout, "\n%s already has the server %s\n", path, e.URL)
	} else {
		agreed, err := s.confirmAddition(ctx, change)
		if err != nil {
			return err
		}
		if !agreed {
			return errors.New("the server is not in the config")
		}
	}
	r, err := load.Load(s.locations)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Config.Remotes, func(r config.Remote) bool { return r.URL == e.URL }) {
		return withHint(fmt.Errorf("config %s: the server %s is not usable", path, e.URL),
			"run docsearch config check to see why")
	}
	s.created = append(s.created, fmt.Sprintf("the server %s in %s", e.URL, path))
	s.undoCommands = append(s.undoCommands, fmt.Sprintf("remove the server %s from %s", e.URL, path))
	return config.Forget(s.locations)
}

// mirrorServer builds the mirrors of the server's databases. A mirror that cannot be built
// does not stop setup: the server still answers for its database.
func (s *setupCommand) mirrorServer(ctx context.Context) error {
	if !s.server.mirror {
		return nil
	}
	s.Step("Mirror its databases")
	fmt.Fprintln(s.stdout)
	u := &updateCommand{app: s.app, prompter: s.prompter, keys: s.server.keys}
	var status exitStatus
	if err := u.updateMirrors(ctx, true); err != nil && !errors.As(err, &status) {
		return err
	}
	return ctx.Err()
}
