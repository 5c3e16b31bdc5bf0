package mcpserver

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Features that the user, not the model, selects in a client: databases and
// documents as resources, to mention in a prompt, and a prompt that searches
// them.

const (
	scheme           = "docsearch://"
	databaseTemplate = scheme + "{database}"
	documentTemplate = scheme + "{database}/{+document}"
	textType         = "text/markdown"
	askPrompt        = "ask"
	maxCompletions   = 100 // protocol limit
)

func (s *Server) addResources(hooks *server.Hooks) {
	s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(databaseTemplate, "database",
		mcp.WithTemplateDescription("Description and state of a database."),
		mcp.WithTemplateMIMEType(textType)), s.readResource)
	s.mcp.AddResourceTemplate(mcp.NewResourceTemplate(documentTemplate, "document",
		mcp.WithTemplateDescription("A document by URL or path, or a passage by id."),
		mcp.WithTemplateMIMEType(textType)), s.readResource)
	hooks.AddAfterListResources(func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest,
		r *mcp.ListResourcesResult) {
		r.Resources = []mcp.Resource{}
		for _, e := range s.catalog.Entries(ctx) {
			r.Resources = append(r.Resources, mcp.NewResource(scheme+url.PathEscape(e.Name), singleLine(e.Name),
				mcp.WithResourceDescription(singleLine(e.Description)), mcp.WithMIMEType(textType)))
		}
	})
}

func (s *Server) readResource(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	database, document, hasDocument := strings.Cut(strings.TrimPrefix(r.Params.URI, scheme), "/")
	database, err := url.PathUnescape(database)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Params.URI, err)
	}
	var text string
	if hasDocument {
		if document, err = url.PathUnescape(document); err == nil {
			a := readArguments{id: document, names: stringList{database}, start: 1, maxTokens: maxTokens}
			text, err = s.read(ctx, a, nil)
		}
	} else {
		var entries []Entry
		if entries, err = s.catalog.choose(ctx, []string{database}, nil); err == nil {
			text = s.describe(ctx, entries)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Params.URI, err)
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: textType, Text: text}}, nil
}

func (s *Server) addPrompts() {
	s.mcp.AddPrompt(mcp.NewPrompt(askPrompt,
		mcp.WithPromptDescription("Answer a question from local documentation."),
		mcp.WithArgument("question", mcp.RequiredArgument(), mcp.ArgumentDescription("Question to answer.")),
		mcp.WithArgument("database",
			mcp.ArgumentDescription("Database to search. Default: the database that the question names, otherwise all.")),
	), s.ask)
}

// ask searches and returns the question together with the results.
func (s *Server) ask(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	a := searchArguments{query: strings.TrimSpace(r.Params.Arguments["question"]), detail: detailPassages, topK: s.topK,
		maxTokens: s.maxTokens}
	if a.query == "" {
		return nil, fmt.Errorf("prompt %s needs the argument question", askPrompt)
	}
	if name := strings.TrimSpace(r.Params.Arguments["database"]); name != "" {
		a.databases = stringList{name}
	}
	found, err := s.search(ctx, a)
	if err != nil {
		return nil, err
	}
	text := resultTexts.Text("ask", "question", a.query, "results", found)
	return mcp.NewGetPromptResult("Answer from local documentation", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)),
	}), nil
}

// A completer completes database names.
type completer struct{ catalog *Catalog }

func (c completer) CompletePromptArgument(ctx context.Context, _ string, a mcp.CompleteArgument,
	_ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, a), nil
}

func (c completer) CompleteResourceArgument(ctx context.Context, _ string, a mcp.CompleteArgument,
	_ mcp.CompleteContext) (*mcp.Completion, error) {
	return c.complete(ctx, a), nil
}

func (c completer) complete(ctx context.Context, a mcp.CompleteArgument) *mcp.Completion {
	found := &mcp.Completion{Values: []string{}}
	if a.Name != "database" {
		return found
	}
	for _, e := range c.catalog.Entries(ctx) {
		if !strings.HasPrefix(strings.ToLower(e.Name), strings.ToLower(a.Value)) {
			continue
		}
		if found.Total++; found.Total <= maxCompletions {
			found.Values = append(found.Values, e.Name)
		}
	}
	found.HasMore = found.Total > maxCompletions
	return found
}
