package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(0, int(syntax.Offset)-1)
	}
	var reason string
	// A decoder of a stream tells a text that ends early from one that goes on after its value.
	switch ofFirst := json.NewDecoder(bytes.NewReader(data)).Decode(&value); {
	case len(bytes.TrimSpace(data)) == 0:
		at, reason = 0, "empty file"
	case errors.Is(ofFirst, io.ErrUnexpectedEOF):
		at, reason = len(data), "unexpected end of file: a closing bracket, brace, or quote is missing"
	default:
		at, reason = reasonAt(data, at, err, ofFirst == nil)
	}
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
// reason. afterValue says that a whole value precedes it.
func reasonAt(data []byte, at int, err error, afterValue bool) (place int, reason string) {
	if at >= len(data) {
		return at, err.Error()
	}
	before := bytes.TrimRight(data[:at], " \t\r\n")
	switch {
	case data[at] == '/', data[at] == '#':
		return at, "JSON does not allow comments"
	case (data[at] == ']' || data[at] == '}') && bytes.HasSuffix(before, []byte(",")):
		return len(before) - 1, fmt.Sprintf("trailing comma before %q", data[at])
	case data[at] == '\'':
		return at, "single quote; JSON requires double quotes"
	case afterValue:
		return at, "unexpected text after the value"
	case data[at] == '\n': // elsewhere, it is white space
		return at, "unterminated string: a closing quote is missing"
	}
	c, _ := utf8.DecodeRune(data[at:])
	_, where, _ := strings.Cut(err.Error(), "' ")
	return at, strings.TrimSpace(fmt.Sprintf("unexpected %q %s", c, where))
}
