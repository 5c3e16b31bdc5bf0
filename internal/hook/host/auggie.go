package host

import "github.com/docsearch/docsearch/internal/hook/event"

// auggie is Auggie. The name of an MCP tool there is that of the tool and of its server.
var auggie = Client{
	Host:     event.Auggie,
	contexts: []string{event.SessionStart},
	joint:    "_",
	reversed: true,
	render:   joinedOutput,
}
