package hook

import (
	"bytes"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

const (
	// maxUserText limits the text taken from the user's last message, and maxTranscriptTail the end
	// of the transcript that is searched for it, in bytes.
	maxUserText       = 200
	maxTranscriptTail = 256 << 10
)

// LastUserText returns the end of the user's last message in a transcript, or "" if it is
// not near the transcript's end.
func LastUserText(path string) string {
	f, err := atomicfile.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	for length := int64(16 << 10); ; length *= 4 {
		length = min(length, maxTranscriptTail, st.Size())
		tail := make([]byte, length)
		if _, err := f.ReadAt(tail, st.Size()-length); err != nil && err != io.EOF {
			return ""
		}
		if length < st.Size() { // drop the partial first line
			_, tail, _ = bytes.Cut(tail, []byte("\n"))
		}
		if said := lastUserText(tail); said != "" || length == st.Size() || length == maxTranscriptTail {
			return said
		}
	}
}

// transcriptSize returns the size of a transcript in bytes, or 0 if it is not a regular
// file.
func transcriptSize(path string) int64 {
	st, err := os.Stat(path)
	if path == "" || err != nil || !st.Mode().IsRegular() {
		return 0
	}
	return st.Size()
}

// lastUserText returns the end of the user's last message in the lines of a transcript.
func lastUserText(lines []byte) string {
	for len(lines) > 0 {
		lines = bytes.TrimRight(lines, "\n")
		i := bytes.LastIndexByte(lines, '\n')
		line := lines[i+1:]
		lines = lines[:i+1]
		if !bytes.Contains(line, []byte(`"user"`)) {
			continue
		}
		if said := UserText(line); said != "" {
			return said
		}
	}
	return ""
}

// UserText returns the end of the message in a line of a transcript, if the user wrote it;
// see UserMessage.
func UserText(line []byte) string {
	text := UserMessage(line)
	if len(text) > maxUserText {
		text = text[len(text)-maxUserText:]
		for text != "" && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
		if _, rest, ok := strings.Cut(text, " "); ok {
			text = rest
		}
	}
	return text
}

// UserMessage returns the message in a line of a transcript, if the user wrote it. It
// returns "" for tool results, messages of the client, and prompts of subagents.
func UserMessage(line []byte) string {
	fields, err := rawjson.Object(line)
	if err != nil || fields.String("type") != "user" || isTrue(fields.Raw("isMeta")) ||
		isTrue(fields.Raw("isSidechain")) {
		return ""
	}
	message, err := rawjson.Object(fields.Raw("message"))
	if err != nil {
		return ""
	}
	content := message.Raw("content")
	text, plain := rawjson.String(content)
	if !plain {
		blocks, err := rawjson.List(content)
		if err != nil {
			return ""
		}
		for _, block := range blocks {
			if b, err := rawjson.Object(block); err == nil && b.String("type") == "text" {
				text = b.String("text")
			}
		}
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, Interrupted) { // a command or its output, a reminder
		return ""
	}
	return text
}

// Interrupted starts the message that the client writes when the user stops the agent.
const Interrupted = "[Request interrupted by user"

func isTrue(v []byte) bool { return string(v) == "true" }
