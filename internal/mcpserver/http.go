package mcpserver

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// SessionHeader is the response header with the ID of a session, and Initialize the method
// that begins one.
const (
	SessionHeader = server.HeaderKeySessionID
	Initialize    = string(mcp.MethodInitialize)
)

// HTTP returns the handler for MCP clients over streamable HTTP, and the function that
// shuts web down: it finishes calls in flight and closes the streams on which clients wait
// for notifications. The handler keeps no state of clients between requests, so its memory
// does not grow with their number. The caller checks the Host header.
func (s *Server) HTTP(web *http.Server) (handler http.Handler, shutdown func(context.Context) error) {
	transport := server.NewStreamableHTTPServer(s.mcp, server.WithStreamableHTTPServer(web),
		server.WithStateLess(true), server.WithStreamableHTTPLogger(s.log), server.WithDisableLocalhostProtection(true))
	return transport, transport.Shutdown
}
