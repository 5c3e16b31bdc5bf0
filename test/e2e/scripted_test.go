//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A scriptedModel replaces the language model of a client that speaks any of
// the protocols. Turn by turn, it makes the tool calls of a script. It records
// the requests, that is, all that the model sees.
type scriptedModel struct {
	*httptest.Server

	mu     sync.Mutex
	script []toolCall
	turns  []turn
	strays []string // requests in none of the protocols
}

// A toolCall is a call by the model, with the client's name and arguments of
// the tool. The namespace is Codex's.
type toolCall struct {
	namespace, name string
	arguments       map[string]any
}

// A turn is one request for the next step of the conversation.
type turn struct {
	tools   []string // names of the available tools
	results []string // texts of the tool results, in order
	text    string   // everything that the model reads, except the tools
}

// modelSays is the text of the model in turns without a tool call, and in
// requests outside of the conversation, such as web searches and titles.
const modelSays = "The web says so."

func newScriptedModel(t *testing.T) *scriptedModel {
	m := &scriptedModel{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

// begin sets the script of the next conversation. After the last call, the
// model ends the conversation.
func (m *scriptedModel) begin(script []toolCall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.turns, m.strays = script, nil, nil
}

// end returns the turns of the conversation, and the requests in no protocol.
func (m *scriptedModel) end() (turns []turn, strays []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.turns, m.strays
}

func (m *scriptedModel) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	for _, p := range protocols {
		if r.Method != http.MethodPost || !p.accepts(r.URL) {
			continue
		}
		var request modelRequest
		if err := json.Unmarshal(body, &request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request.Stream = request.Stream || r.URL.Query().Get("alt") == "sse"
		p.send(w, request, m.next(p, request))
		return
	}
	if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
		sendJSON(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "scripted", "object": "model"}}})
		return
	}
	if strings.HasSuffix(r.URL.Path, "ount_tokens") || strings.HasSuffix(r.URL.Path, ":countTokens") {
		sendJSON(w, map[string]any{"input_tokens": 100, "totalTokens": 100})
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strays = append(m.strays, r.Method+" "+r.RequestURI)
	http.NotFound(w, r)
}

// next returns the call that follows the results in the request, or nil for
// text. Its number is the number of results.
func (m *scriptedModel) next(p protocol, request modelRequest) *nextCall {
	tools := toolNames(request.Tools)
	if len(tools) == 0 || slices.Equal(tools, []string{"web_search"}) {
		return nil
	}
	results := p.results(request)
	now := turn{tools: tools, text: textOf(request.System, request.SystemInstruction, request.Instructions, request.Messages, request.Contents, request.Input)}
	for _, result := range results {
		now.results = append(now.results, textOf(result))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turns = append(m.turns, now)
	if len(results) >= len(m.script) {
		return nil
	}
	return &nextCall{m.script[len(results)], len(results)}
}

// A modelRequest has the fields of all protocols' requests that the script
// needs.
type modelRequest struct {
	Model  string            `json:"model"`
	Stream bool              `json:"stream"`
	Tools  []toolDeclaration `json:"tools"`

	System            json.RawMessage `json:"system"`            // Anthropic
	Messages          json.RawMessage `json:"messages"`          // Anthropic, chat completions
	SystemInstruction json.RawMessage `json:"systemInstruction"` // Gemini
	Contents          json.RawMessage `json:"contents"`          // Gemini
	Instructions      json.RawMessage `json:"instructions"`      // Responses
	Input             json.RawMessage `json:"input"`             // Responses
}

// A toolDeclaration is a tool, or a group of tools, of any protocol.
type toolDeclaration struct {
	Name                 string            `json:"name"`
	Function             *toolDeclaration  `json:"function"`             // chat completions
	FunctionDeclarations []toolDeclaration `json:"functionDeclarations"` // Gemini
	Tools                []toolDeclaration `json:"tools"`                // a namespace of Responses
}

// toolNames returns the names of the tools. A tool in a namespace is named
// NAMESPACE.TOOL.
func toolNames(declarations []toolDeclaration) (names []string) {
	for _, d := range declarations {
		switch {
		case d.Function != nil:
			names = append(names, d.Function.Name)
		case len(d.FunctionDeclarations) > 0:
			names = append(names, toolNames(d.FunctionDeclarations)...)
		case len(d.Tools) > 0:
			for _, name := range toolNames(d.Tools) {
				names = append(names, d.Name+"."+name)
			}
		case d.Name != "":
			names = append(names, d.Name)
		}
	}
	return names
}

// textOf joins the strings in JSON values, except the types of content.
func textOf(values ...json.RawMessage) string {
	var b strings.Builder
	for _, value := range values {
		if len(value) == 0 {
			continue
		}
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			panic(err) // part of a value that was unmarshaled
		}
		writeText(&b, v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeText(b *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		b.WriteString(value + "\n")
	case []any:
		for _, v := range value {
			writeText(b, v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if key != "type" {
				writeText(b, value[key])
			}
		}
	}
}

func sendJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(encode(value))
}

func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // a value of this test cannot be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}
