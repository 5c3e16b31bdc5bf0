// Package mcpserver is the MCP server that lets an agent search documentation.
// Its tools search, read and list databases, and write notes where the config
// permits it.
//
// Results are plain text for a model, because some clients would show
// structured content in its place. Quotations from documents are inside fences
// that they cannot break, and every result has a size limit. The package
// decodes arguments leniently, and its errors explain the call. The server
// starts without opening a database; package index implements the search.
package mcpserver

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notes/notebook"
)

// Options configure a Server.
type Options struct {
	Catalog *Catalog
	Version string       // of docsearch
	LEANN   bool         // also offer the tools of LEANN's own server
	Log     *slog.Logger // nil: no log
	// TopK and MaxTokens are the defaults of the search tool; 0 means the default
	// of this package.
	TopK, MaxTokens int
	// Shown returns the passages that the agent has seen in the denial with this code,
	// nil if it is unknown. nil: always unknown.
	Shown func(code string) passage.Shown
	// Notebooks lists the folders in which clients may write notes. If it returns
	// any when the server starts, the server offers the tools for that; nil: none.
	Notebooks func() []notebook.Notebook
	// Called is called after every call of a tool with the context of its request; nil:
	// not at all.
	Called func(context.Context, Call)
}

// A Call describes a call of a tool, without its query and its result.
type Call struct {
	Tool      string
	Databases []string // as the client named them; nil: the server chose
	Failed    bool
	Bytes     int // of the result
}

// A Server serves the databases of a catalog to MCP clients.
type Server struct {
	catalog         *Catalog
	log             *slog.Logger
	mcp             *server.MCPServer
	topK, maxTokens int
	shown           func(code string) passage.Shown
	notebooks       func() []notebook.Notebook
	writes          writeLimit
	called          func(context.Context, Call)
}

// New returns a server. It opens no database.
func New(opt Options) *Server {
	s := &Server{catalog: opt.Catalog, log: opt.Log,
		topK: cmp.Or(opt.TopK, defaultTopK), maxTokens: cmp.Or(opt.MaxTokens, defaultTokens), shown: opt.Shown,
		notebooks: opt.Notebooks, called: opt.Called}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.called == nil {
		s.called = func(context.Context, Call) {}
	}
	if s.shown == nil {
		s.shown = func(string) passage.Shown { return nil }
	}
	hooks := &server.Hooks{}
	s.mcp = server.NewMCPServer("docsearch", opt.Version,
		server.WithTitle("Local documentation"),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completer{opt.Catalog}),
		server.WithResourceCompletionProvider(completer{opt.Catalog}),
		server.WithRecovery(),
		server.WithResourceRecovery(),
		server.WithHooks(hooks))
	for _, t := range s.tools(opt.LEANN) {
		s.mcp.AddTool(t.declare(), s.handler(t))
	}
	s.addResources(hooks)
	s.addPrompts()
	// Texts that list the databases are generated per request.
	hooks.AddAfterInitialize(func(ctx context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
		r.Instructions = s.instructions(ctx)
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, r *mcp.DiscoverResult) {
		r.Instructions = s.instructions(ctx)
	})
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, r *mcp.ListToolsResult) {
		r.Tools = slices.Clone(r.Tools)
		for i, t := range r.Tools {
			if t.Name == "search" {
				r.Tools[i].Description = s.searchDescription(ctx)
			}
		}
	})
	return s
}

// ServeStdio serves one client that sends messages on in and receives them on
// out. It returns nil when in ends and every call is answered, or when ctx is
// done.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return newStdioConn(s.mcp, s.log, out).serve(ctx, in)
}

// A tool describes a tool to clients; call returns fresh arguments and the
// function that uses them, for each call.
type tool struct {
	name, title, description string
	// searchHint contains words under which the client's tool search finds the
	// tool.
	searchHint string
	// alwaysLoad asks the client to show the tool's schema to the model from the
	// first request on.
	alwaysLoad bool
	// writes reports that the tool writes notes, and destructive that it can
	// replace text.
	writes, destructive bool
	call                func() (params []param, run func(context.Context) (string, error))
}

func (s *Server) tools(leann bool) []tool {
	tools := []tool{{
		name: "search", title: "Search local documentation", alwaysLoad: true,
		searchHint:  "local documentation docs manual reference guide API search lookup offline instead of web search",
		description: instructionTexts.Text("how-to-search"), call: s.searchTool,
	}, {
		name: "read", title: "Read local documentation",
		searchHint:  "read open local documentation docs page passage section",
		description: instructionTexts.Text("read"),
		call:        s.readTool,
	}, {
		name: "list_databases", title: "List local documentation",
		searchHint:  "list local documentation docs databases libraries available",
		description: instructionTexts.Text("list_databases"),
		call:        s.listTool,
	}}
	if leann {
		tools = append(tools, tool{
			name: "leann_search", title: "Search a LEANN index",
			searchHint:  "search local documentation docs leann index",
			description: instructionTexts.Text("leann_search"),
			call:        s.leannSearchTool,
		}, tool{
			name: "leann_list", title: "List LEANN indexes",
			searchHint:  "list local documentation docs leann indexes",
			description: instructionTexts.Text("leann_list"),
			call:        s.leannListTool,
		})
	}
	if s.offersNotes() {
		tools = append(tools, s.noteTools()...)
	}
	return tools
}

func (t tool) declare() mcp.Tool {
	params, _ := t.call()
	readOnly, no := !t.writes, false
	// Without maxResultSizeChars, Claude Code saves a result of more than 50,000
	// characters in a file and shows the model only its beginning.
	meta := map[string]any{"anthropic/searchHint": t.searchHint,
		"anthropic/maxResultSizeChars": maxTokens * bytesPerToken}
	if t.alwaysLoad {
		meta["anthropic/alwaysLoad"] = true
	}
	return mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		RawInputSchema: schema(params),
		Annotations: mcp.ToolAnnotation{Title: t.title,
			ReadOnlyHint: &readOnly, DestructiveHint: &t.destructive, IdempotentHint: &readOnly, OpenWorldHint: &no},
		Meta: mcp.NewMetaFromMap(meta),
	}
}

// handler runs calls of t. Errors are returned as results, not as protocol
// errors, so that the model can read them.
func (s *Server) handler(t tool) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		params, run := t.call()
		err := decode(t.name, params, r.Params.Arguments)
		var text string
		if err == nil {
			text, err = run(ctx)
		}
		s.called(ctx, Call{Tool: t.name, Databases: databasesIn(params), Failed: err != nil, Bytes: len(text)})
		if err != nil {
			s.log.Debug("call", "tool", t.name, "arguments", r.Params.Arguments, "error", err)
			return mcp.NewToolResultError(err.Error()), nil
		}
		s.log.Debug("call", "tool", t.name, "arguments", r.Params.Arguments, "bytes", len(text))
		return mcp.NewToolResultText(text), nil
	}
}

// databasesIn returns the values of the parameter database.
func databasesIn(params []param) []string {
	for _, p := range params {
		if list, ok := p.target.(*stringList); ok && p.name == "database" {
			return *list
		}
	}
	return nil
}
