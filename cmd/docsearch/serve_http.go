package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/httpserver"
	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
)

// httpOptions are the flags of docsearch serve for HTTP.
type httpOptions struct {
	http, token, tokens string
	cert, key           string
	publicURL           string
	issuer, audience    string
	rate                float64
	auditLog, logFormat string
	drain               time.Duration
}

func (o *httpOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.http, "http", "", "serve streamable HTTP on `HOST:PORT` instead of standard input and output")
	f.StringVar(&o.token, "token", "",
		"accept the bearer token `TOKEN` from HTTP clients, for all databases (default: $DOCSEARCH_TOKEN)")
	f.StringVar(&o.tokens, "tokens", "",
		"accept the tokens in `FILE` from HTTP clients (default: those of docsearch token)")
	f.StringVar(&o.cert, "tls-cert", "",
		"serve HTTPS with the certificate chain in `FILE` (PEM); reloaded when it changes")
	f.StringVar(&o.key, "tls-key", "", "read the private key of the certificate from `FILE` (PEM)")
	f.StringVar(&o.publicURL, "public-url", "",
		"accept requests for `URL` only, for example https://docs.example.com (default: any host)")
	f.StringVar(&o.issuer, "issuer", "",
		"accept JSON Web Tokens of the OAuth authorization server at `URL`; needs --public-url")
	f.StringVar(&o.audience, "audience", "", "require `AUDIENCE` in JSON Web Tokens (default: the public URL with /mcp)")
	f.Float64Var(&o.rate, "rate", httpserver.DefaultRate, "accept at most `N` requests per second and token")
	f.StringVar(&o.auditLog, "audit-log", "",
		"append a line per HTTP request to `FILE`, without queries and passages; SIGHUP reopens it")
	f.DurationVar(&o.drain, "drain", 0,
		"fail /readyz for `DURATION` before the server stops, so that a load balancer notices")
}

// logger returns the log of the server.
func (o *httpOptions) logger(w io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	if o.http != "" {
		options.Level = slog.LevelInfo
	}
	if os.Getenv("DOCSEARCH_DEBUG") != "" {
		options.Level = slog.LevelDebug
	}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, usagef("invalid --log-format %q: want text or json", o.logFormat)
}

// serveHTTP runs the HTTP server until ctx is done.
func (a *app) serveHTTP(ctx context.Context, o httpOptions, opt httpserver.Options) (err error) {
	switch {
	case (o.cert == "") != (o.key == ""):
		return usagef("--tls-cert and --tls-key: want both or neither")
	case o.rate <= 0:
		return usagef("invalid --rate %g: want a positive number", o.rate)
	case o.issuer != "" && o.publicURL == "":
		return usagef("--issuer needs --public-url, the URL that clients request a token for")
	}
	opt.Token, opt.PublicURL, opt.CertFile, opt.KeyFile = cmp.Or(o.token, os.Getenv("DOCSEARCH_TOKEN")), o.publicURL,
		o.cert, o.key
	opt.Rate, opt.Drain = o.rate, o.drain
	if path := tokensPath(o.tokens); path != "" {
		opt.Tokens = accesstoken.Open(path)
	}
	if o.issuer != "" {
		opt.Issuer = httpserver.NewIssuer(o.issuer, o.audience)
	}
	if o.auditLog != "" {
		if opt.Audit, err = httpserver.OpenAudit(o.auditLog); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opt.Audit.Close()) }()
	}
	server, err := httpserver.New(opt)
	if err != nil {
		return err
	}
	l, err := server.Listen(ctx, o.http)
	if errors.Is(err, httpserver.ErrNeedsToken) {
		return withHint(err, "run docsearch token new NAME to make a token, or set DOCSEARCH_TOKEN")
	}
	if err != nil {
		return err
	}
	serverGrace.Store(int64(o.drain + httpserver.ShutdownTime + time.Second))
	defer reloadOnHangup(server, opt.Log)()
	fmt.Fprintf(a.stderr, "docsearch: serving on %s://%s%s\n", server.Scheme(), l.Addr(), httpserver.Endpoint)
	return server.Serve(ctx, l)
}

// reloadOnHangup reloads the server at SIGHUP until stop is called.
func reloadOnHangup(server *httpserver.Server, log *slog.Logger) (stop func()) {
	if hangup == nil {
		return func() {}
	}
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, hangup)
	go func() {
		for {
			select {
			case <-signals:
				if err := server.Reload(); err != nil {
					log.Error("cannot reload", "error", err)
					continue
				}
				log.Info("reloaded")
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// tokensPath returns the file of tokens: the given one, or else that in the user's data
// folder.
func tokensPath(given string) string { return cmp.Or(given, config.TokensPath(os.Getenv)) }
