//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A model replaces the language model. It is a server on the loopback interface
// that answers the client's requests from a script and records them, that is,
// all that the model sees.
type model struct {
	*httptest.Server
	turn func(conversation) reply

	mu       sync.Mutex
	requests []conversation // of the main conversation, in order
	searches []string       // server-side web searches
	strays   []string       // requests that the script does not expect
}

// A conversation is one request for the model's next turn.
type conversation struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Messages []message       `json:"messages"`
	Tools    []tool          `json:"tools"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type tool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	DeferLoading bool            `json:"defer_loading"`
	InputSchema  json.RawMessage `json:"input_schema"`
}

// content is a list of blocks. The API also accepts a string in place of a
// single text block.
type content []block

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(c))
}

// A block is a content block of any type, in requests and replies.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitempty"`
	ID        string         `json:"id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Input     map[string]any `json:"input,omitempty"`
	ToolUseID string         `json:"tool_use_id,omitempty"`
	Content   content        `json:"content,omitempty"`
	IsError   bool           `json:"is_error,omitempty"`
	URL       string         `json:"url,omitempty"`
	Title     string         `json:"title,omitempty"`
	Encrypted string         `json:"encrypted_content,omitempty"`
}

// text joins the text of all blocks, including nested ones.
func (c content) text() string {
	var b strings.Builder
	for _, block := range c {
		b.WriteString(block.Text)
		b.WriteString(block.Content.text())
		b.WriteByte('\n')
	}
	return b.String()
}

// A reply is one turn of the model: a text and its tool calls.
type reply []block

func say(text string) reply { return reply{{Type: "text", Text: text}} }

func call(id, name string, input map[string]any) reply {
	return reply{{Type: "tool_use", ID: "toolu_" + id, Name: name, Input: input}}
}

// newModel serves turn, a function that returns the model's reply to each
// request of the main conversation. It answers the client's server-side web
// searches with one result.
func newModel(t *testing.T, turn func(conversation) reply) *model {
	m := &model{turn: turn}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *model) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead || r.URL.Path == "/":
		w.WriteHeader(http.StatusOK)
	case r.URL.Path == "/v1/messages/count_tokens":
		fmt.Fprint(w, `{"input_tokens":100}`)
	case r.URL.Path == "/v1/messages" && r.Method == http.MethodPost:
		m.message(w, r)
	default:
		m.stray(r.Method + " " + r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"type":"error","error":{"type":"not_found_error","message":"not part of the script"}}`)
	}
}

func (m *model) message(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		m.stray("unreadable request: " + err.Error())
		return
	}
	var c conversation
	if err := json.Unmarshal(body, &c); err != nil {
		m.stray("malformed request: " + err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	send(w, c, m.reply(c))
}

// reply distinguishes the three kinds of requests: web searches by the client's
// own tool, turns of the main conversation, and auxiliary requests such as a
// session title.
func (m *model) reply(c conversation) reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case len(c.Tools) == 1 && strings.HasPrefix(c.Tools[0].Type, "web_search"):
		asked := c.Messages[len(c.Messages)-1].Content.text()
		m.searches = append(m.searches, asked)
		return webSearch(asked)
	case len(c.Tools) == 0:
		return say("A title")
	default:
		m.requests = append(m.requests, c)
		return m.turn(c)
	}
}

func (m *model) stray(request string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strays = append(m.strays, request)
}

// webResult is the only result of web searches.
const webResult = "https://web.example/made-up-page"

func webSearch(asked string) reply {
	return reply{
		{Type: "server_tool_use", ID: "srvtoolu_1", Name: "web_search", Input: map[string]any{"query": asked}},
		{Type: "web_search_tool_result", ToolUseID: "srvtoolu_1", Content: content{
			{Type: "web_search_result", URL: webResult, Title: "A page of the made-up web", Encrypted: "AA=="}}},
		{Type: "text", Text: "The web says so."},
	}
}

// replyCount makes message IDs unique, because the client groups messages by
// ID.
var replyCount atomic.Int64

// send writes the reply in the requested form: a single JSON message, or the
// same message as a stream of events.
func send(w http.ResponseWriter, c conversation, r reply) {
	stop := "end_turn"
	for _, b := range r {
		if b.Type == "tool_use" {
			stop = "tool_use"
		}
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	head := map[string]any{"id": "msg_" + strconv.FormatInt(replyCount.Add(1), 10), "type": "message", "role": "assistant", "model": c.Model, "stop_sequence": nil, "usage": usage}
	if !c.Stream {
		head["content"], head["stop_reason"] = r, stop
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(head)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	head["content"], head["stop_reason"] = []block{}, nil
	event("message_start", map[string]any{"message": head})
	for i, b := range r {
		start, delta := openingEvent(b)
		event("content_block_start", map[string]any{"index": i, "content_block": start})
		if delta != nil {
			event("content_block_delta", map[string]any{"index": i, "delta": delta})
		}
		event("content_block_stop", map[string]any{"index": i})
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 10}})
	event("message_stop", map[string]any{})
}

// openingEvent returns the start of a block in a stream, and the delta that
// completes it.
func openingEvent(b block) (start any, delta map[string]any) {
	switch b.Type {
	case "text":
		return map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b.Text}
	case "tool_use", "server_tool_use":
		input, err := json.Marshal(b.Input)
		if err != nil {
			panic(err)
		}
		return map[string]any{"type": b.Type, "id": b.ID, "name": b.Name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": string(input)}
	default:
		return b, nil
	}
}
