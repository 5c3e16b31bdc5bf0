package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A JSONError is a syntax error in JSON.
type JSONError struct {
	Line, Column int // 1-based; columns are characters
	Reason       string
}

func (e *JSONError) Error() string { return "invalid JSON: " + e.Reason }

// CheckJSON checks that a text is one JSON value. Its errors explain common mistakes:
// comments, trailing commas, single quotes. The caller must remove a byte order mark.
func CheckJSON(data []byte) *JSONError {
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	if err == nil {
		return nil
	}
	at := len(data)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		at = max(0, int(syntax.Offset)-1)
	}
	at, reason := reasonAt(data, at, err)
	e := &JSONError{Reason: reason}
	e.Line, e.Column = Position(data, at)
	return e
}

// Position returns the line and column of a byte in a text, both 1-based.
func Position(data []byte, at int) (line, column int) {
	before := data[:min(max(at, 0), len(data))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// reasonAt returns the reason why the text is not JSON at a byte, and the position of the
// reason.
func reasonAt(data []byte, at int, err error) (place int, reason string) {
	before := bytes.TrimRight(data[:min(at, len(data))], " \t\r\n")
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return 0, "empty file"
	case at >= len(data)-1 && strings.Contains(err.Error(), "unexpected end"):
		return len(data), "unexpected end of file: a closing bracket, brace, or quote is missing"
	case at >= len(data):
		return at, err.Error()
	case data[at] == '/', data[at] == '#':
		return at, "JSON does not allow comments"
	case (data[at] == ']' || data[at] == '}') && bytes.HasSuffix(before, []byte(",")):
		return len(before) - 1, fmt.Sprintf("trailing comma before %q", data[at])
	case data[at] == '\'':
		return at, "single quote; JSON requires double quotes"
	case strings.Contains(err.Error(), "after top-level value"):
		return at, "unexpected text after the value"
	case strings.Contains(err.Error(), "in string literal") && data[at] == '\n':
		return at, "unterminated string: a closing quote is missing"
	}
	c, _ := utf8.DecodeRune(data[at:])
	_, where, _ := strings.Cut(err.Error(), "' ")
	return at, strings.TrimSpace(fmt.Sprintf("unexpected %q %s", c, where))
}
