//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A protocol is a way in which clients talk to a model.
type protocol struct {
	accepts func(*url.URL) bool
	// results returns the tool results of the conversation, in order.
	results func(modelRequest) []json.RawMessage
	// send writes the model's next turn: the call, or text if it is nil.
	send func(http.ResponseWriter, modelRequest, *nextCall)
}

// A nextCall is a tool call with its position in the script.
type nextCall struct {
	toolCall
	n int
}

func (c *nextCall) id(prefix string) string { return prefix + strconv.Itoa(c.n) }

var protocols = []protocol{
	{pathIs("/v1/messages"), anthropicResults, sendAnthropic},
	{isGenerateContent, geminiResults, sendGemini},
	{pathIs("/v1/responses"), responsesResults, sendResponses},
	{pathIs("/v1/chat/completions"), chatResults, sendChat},
}

func pathIs(path string) func(*url.URL) bool {
	return func(u *url.URL) bool { return u.Path == path }
}

// Anthropic's Messages API.

func anthropicResults(r modelRequest) (results []json.RawMessage) {
	var messages []struct {
		Content json.RawMessage `json:"content"` // a string, or blocks
	}
	json.Unmarshal(r.Messages, &messages)
	for _, m := range messages {
		var blocks []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		json.Unmarshal(m.Content, &blocks)
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results = append(results, b.Content)
			}
		}
	}
	return results
}

func sendAnthropic(w http.ResponseWriter, r modelRequest, c *nextCall) {
	next := say(modelSays)
	switch {
	case c != nil:
		next = call(strconv.Itoa(c.n), c.name, c.arguments)
	case len(r.Tools) == 1: // the client's web search
		next = webSearch(modelSays)
	}
	send(w, conversation{Model: r.Model, Stream: r.Stream}, next)
}

// Google's Gemini API.

func isGenerateContent(u *url.URL) bool {
	return strings.HasSuffix(u.Path, ":generateContent") || strings.HasSuffix(u.Path, ":streamGenerateContent")
}

func geminiResults(r modelRequest) (results []json.RawMessage) {
	var contents []struct {
		Parts []struct {
			FunctionResponse *struct {
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	}
	json.Unmarshal(r.Contents, &contents)
	for _, content := range contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				results = append(results, part.FunctionResponse.Response)
			}
		}
	}
	return results
}

func sendGemini(w http.ResponseWriter, r modelRequest, c *nextCall) {
	part := map[string]any{"text": modelSays}
	if c != nil {
		part = map[string]any{"functionCall": map[string]any{"name": c.name, "args": c.arguments}}
	}
	message := map[string]any{
		"candidates": []any{map[string]any{
			"content":      map[string]any{"role": "model", "parts": []any{part}},
			"finishReason": "STOP",
			"index":        0,
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  "scripted",
	}
	if !r.Stream {
		sendJSON(w, message)
		return
	}
	newStream(w).send("", message)
}

// OpenAI's Responses API.

func responsesResults(r modelRequest) (results []json.RawMessage) {
	var items []struct {
		Type   string          `json:"type"`
		Output json.RawMessage `json:"output"`
	}
	json.Unmarshal(r.Input, &items)
	for _, item := range items {
		if strings.HasSuffix(item.Type, "_output") {
			results = append(results, item.Output)
		}
	}
	return results
}

func sendResponses(w http.ResponseWriter, _ modelRequest, c *nextCall) {
	item := map[string]any{
		"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": modelSays, "annotations": []any{}}},
	}
	if c != nil {
		item = map[string]any{
			"type": "function_call", "id": c.id("fc_"), "call_id": c.id("call_"),
			"name": c.name, "arguments": string(encode(c.arguments)),
		}
		if c.namespace != "" {
			item["namespace"] = c.namespace
		}
	}
	usage := map[string]any{
		"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2,
	}
	s := newStream(w)
	s.send("response.created", map[string]any{"type": "response.created", "response": map[string]any{"id": "resp_1"}})
	s.send("response.output_item.done", map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	s.send("response.completed", map[string]any{"type": "response.completed", "response": map[string]any{
		"id": "resp_1", "output": []any{}, "usage": usage,
	}})
}

// OpenAI's Chat Completions API.

func chatResults(r modelRequest) (results []json.RawMessage) {
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	json.Unmarshal(r.Messages, &messages)
	for _, m := range messages {
		if m.Role == "tool" {
			results = append(results, m.Content)
		}
	}
	return results
}

func sendChat(w http.ResponseWriter, r modelRequest, c *nextCall) {
	message, reason := map[string]any{"role": "assistant", "content": modelSays}, "stop"
	if c != nil {
		reason = "tool_calls"
		message = map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"index": 0, "id": c.id("call_"), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": string(encode(c.arguments))},
		}}}
	}
	usage := map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	completion := func(object string, choice map[string]any) map[string]any {
		choice["index"] = 0
		return map[string]any{"id": "chat_1", "object": object, "created": 1, "model": r.Model, "choices": []any{choice}}
	}
	if !r.Stream {
		whole := completion("chat.completion", map[string]any{"message": message, "finish_reason": reason})
		whole["usage"] = usage
		sendJSON(w, whole)
		return
	}
	s := newStream(w)
	s.send("", completion("chat.completion.chunk", map[string]any{"delta": message, "finish_reason": nil}))
	end := completion("chat.completion.chunk", map[string]any{"delta": map[string]any{}, "finish_reason": reason})
	end["usage"] = usage
	s.send("", end)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// An eventStream writes server-sent events.
type eventStream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) eventStream {
	w.Header().Set("Content-Type", "text/event-stream")
	return eventStream{w}
}

func (s eventStream) send(name string, data any) {
	if name != "" {
		fmt.Fprintf(s.w, "event: %s\n", name)
	}
	fmt.Fprintf(s.w, "data: %s\n\n", encode(data))
}
