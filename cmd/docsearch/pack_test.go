package main

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
)

// serveRegistry serves an OCI registry at $REGISTRY.
func serveRegistry(env *testscript.Env) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true)))
	env.Defer(server.Close)
	env.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
}
