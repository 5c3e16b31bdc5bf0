package event

import (
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// readGemini reads an event of Gemini CLI.
func (e *Event) readGemini(f rawjson.Fields) {
	switch e.Name {
	case "BeforeTool":
		e.Name = PreToolUse
	case "AfterTool":
		e.Name = PostToolUse
	case "BeforeAgent":
		e.Name = UserPromptSubmit
	case "PreCompress":
		// The compressed conversation follows at once, without an event of its own.
		e.Name = PostCompact
	}
	e.Tool = geminiTool(e.ClientTool)
	input := f.Raw("tool_input")
	if in := parseInput(input); e.Tool == WebFetch && in.String("url") == "" {
		e.readPromptURLs(in.String("prompt"))
	} else {
		e.readInput(input)
	}
	e.readFailure(f, contentFailure(f.Raw("tool_response")))
}

func geminiTool(name string) string {
	return commonTool(name, "google_web_search", WebSearch, "replace", Edit, "read_file", Read)
}

// readPromptURLs reads a fetch whose URLs are in its prompt. Several pages are several
// requests with the rest of the prompt.
func (e *Event) readPromptURLs(prompt string) {
	urls, rest := cutURLs(prompt)
	requests := make([]Request, len(urls))
	for i, url := range urls {
		requests[i] = Request{Tool: WebFetch, Fetch: Fetch{URL: url, Prompt: rest}}
	}
	e.setRequests(requests)
}

// cutURLs returns the URLs in a text, and the text without them.
func cutURLs(text string) (urls []string, rest string) {
	var b strings.Builder
	for {
		at := urlIndex(text)
		if at < 0 {
			b.WriteString(text)
			return urls, strings.Join(strings.Fields(b.String()), " ")
		}
		b.WriteString(text[:at])
		text = text[at:]
		end := strings.IndexAny(text, " \t\r\n\"'<>)]`")
		if end < 0 {
			end = len(text)
		}
		url := strings.TrimRight(text[:end], ".,;:!?")
		urls = append(urls, url)
		text = text[len(url):]
	}
}

// urlIndex returns the index of the first URL in a text, or -1.
func urlIndex(text string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], "http")
		if i < 0 {
			return -1
		}
		if at += i; isURL(text[at:]) {
			return at
		}
		at += len("http")
	}
}

// contentFailure returns the output of a command whose result is a text for the model with
// a line for the exit code.
func contentFailure(result []byte) string {
	content := rawjson.Prefix(parseInput(result).Raw("llmContent"), maxText)
	failed := false
	var output strings.Builder
	for line := range strings.Lines(content) {
		label, value, _ := strings.Cut(line, ": ")
		switch label {
		case "Exit Code":
			failed = strings.TrimSpace(value) != "0"
		case "Command", "Directory", "Signal", "Process Group PGID", "Background PIDs":
		case "Output", "Error":
			if value = strings.TrimSpace(value); value != "(none)" && value != "(empty)" {
				output.WriteString(value + "\n")
			}
		default:
			if !strings.HasPrefix(line, "<untrusted_context>") && !strings.HasPrefix(line, "</untrusted_context>") {
				output.WriteString(line)
			}
		}
	}
	if !failed {
		return ""
	}
	return strings.TrimSpace(output.String())
}
