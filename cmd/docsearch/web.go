package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/explain"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/loopback"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/web"
	"github.com/docsearch/docsearch/internal/web/machine"
	"github.com/docsearch/docsearch/internal/web/manage"
)

func newWebCommand(a *app) *cobra.Command {
	var address string
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Search and read the documentation in the browser",
		Long: `Search and read the documentation in the browser. The command serves a page on this
machine, prints its address, and opens it. The address contains a token that works
once. To stop the server, press Ctrl+C.

The page lists your databases with their pages and names, and the last decisions
about your agent's web searches. You can search and read the documentation, build,
update and remove databases, add keywords, and check the installation.`,
		Example: `  docsearch web
  docsearch web --no-open --listen 127.0.0.1:7474`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.web(cmd.Context(), address, !noOpen) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&address, "listen", "127.0.0.1:0",
		"serve the page at `HOST:PORT`, a loopback address (port 0: any free port)")
	f.BoolVar(&noOpen, "no-open", false, "do not open the browser")
	return cmd
}

// web serves the page until ctx is done.
func (a *app) web(ctx context.Context, address string, open bool) error {
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	served := &served.Databases{Locations: config.Locate(os.Getenv), Log: log, Remotes: true, Project: cwd}
	settings := served.Current().Search
	catalog := &mcpserver.Catalog{
		ShowPaths: true,
		Project:   func() *config.Project { return config.ProjectAt(served.Locations, os.Getenv, cwd) },
		Entries:   func(context.Context) []mcpserver.Entry { return served.Entries() },
		Embedders: func() *index.Embedders { return served.Current().Opened },
		MaxAge:    time.Duration(settings.MaxAgeDays) * 24 * time.Hour,
	}
	defer catalog.Close()
	host, _, err := net.SplitHostPort(address)
	if err != nil || !loopback.IsHost(host) {
		return withHint(usagef("invalid --listen %q: want a loopback address with a port, such as 127.0.0.1:7474", address),
			"to share documentation with other machines, run docsearch serve --http")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot serve the page: %w", err)
	}
	defer l.Close()
	server, err := web.New(l, web.Options{Catalog: catalog, Why: webVerdict, Log: log})
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	pages, err := manage.New(server, manage.Options{Machine: machine.Machine{Locations: served.Locations},
		State: served.Locations.State, Program: program, Env: os.Environ()})
	if err != nil {
		return err
	}
	defer pages.Close()
	remotes, stop := context.WithCancel(ctx)
	defer stop()
	go served.ServeRemotes(remotes)
	server.Stolen = func() {
		a.warn("the address was used a second time, so all sessions have ended; if you did not open it twice, " +
			"another user of this machine did: stop this command, and run docsearch web again")
	}
	fmt.Fprintf(a.stdout, "%s\n", server.LoginURL())
	fmt.Fprintln(a.stderr, "your documentation, for this machine only, at the address above, which works once; to stop it, press Ctrl+C")
	if open {
		page, err := server.WriteRedirect()
		if err == nil {
			err = openBrowser(page)
		}
		if err != nil {
			a.warn("cannot open the browser: %v; open the address yourself", err)
		}
	}
	return server.Serve(ctx)
}

// webVerdict explains a search for the page, with the code of "docsearch why".
func webVerdict(_ context.Context, query string) (*web.Verdict, error) {
	out, d, messages, err := explain.Explain(query)
	if err != nil {
		return nil, err
	}
	v := &web.Verdict{Outcome: "The web search: " + explain.Describe(out), Reason: d.Reason, Context: d.Context,
		Problems: append(messages, out.Faults...)}
	for i := range out.Databases {
		v.Databases = append(v.Databases, web.Consideration{Name: out.Databases[i].Name, Steps: out.Databases[i].Steps()})
	}
	return v, nil
}

// openBrowser opens a page in a file in the user's browser and does not wait for it.
func openBrowser(page string) error {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", page)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", page)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return nil // xdg-open would start a browser in this terminal
		}
		cmd = exec.Command("xdg-open", page)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the address is printed, so nothing depends on the browser
	return nil
}
