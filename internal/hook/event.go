package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// An Event is what a host sent, in Claude Code's terms, with the parts that
// the hook uses. What was absent or of a wrong type is empty.
type Event struct {
	Host    Host
	Name    string // "PreToolUse", ...
	Session string // "default" if the host named none
	Agent   string // of a subagent; empty on the main thread
	Tool    string
	Search  Search // where Tool is WebSearch
}

// A Search is the input of a WebSearch.
type Search struct {
	Query   string
	Allowed []string // domains to search
	Blocked []string // domains to leave out
}

// A Host is a program that runs hooks.
type Host string

const (
	Claude  Host = "claude"
	Cursor  Host = "cursor"
	Copilot Host = "copilot"
	Gemini  Host = "gemini"
	Codex   Host = "codex"
)

const (
	preToolUse     = "PreToolUse"
	webSearch      = "WebSearch"
	defaultSession = "default"
)

// ParseEvent reads an event, one field at a time: a field that is absent or
// of a wrong type is as good as empty and spoils no other. Only what is no
// JSON object at all is an error.
func ParseEvent(data []byte) (Event, error) {
	fields, err := objectFields(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		return Event{}, err
	}
	host := hostOf(fields)
	e := Event{
		Host:    host,
		Name:    eventName(fields.text("hook_event_name")),
		Session: fields.text("session_id", "sessionId", "conversation_id"),
		Agent:   fields.text("agent_id"),
		Tool:    toolName(fields.text("tool_name", "toolName")),
	}
	if e.Session == "" {
		e.Session = defaultSession
	}
	if e.Tool == webSearch {
		e.Search = parseSearch(fields.raw("tool_input", "toolArgs"))
	}
	return e, nil
}

// hostOf tells the hosts apart by what only they send.
func hostOf(fields fieldList) Host {
	switch {
	case fields.raw("cursor_version", "conversation_id") != nil:
		return Cursor
	case fields.raw("sessionId", "toolName") != nil:
		return Copilot
	case strings.HasPrefix(fields.text("hook_event_name"), "Before"):
		return Gemini
	case fields.text("timestamp") != "":
		return Copilot
	case fields.raw("turn_id") != nil && fields.raw("model") != nil:
		return Codex
	}
	return Claude
}

// eventName is Claude Code's name of the event. A host that names none is
// taken to ask before a tool runs: that is what the hook is installed for.
func eventName(name string) string {
	switch name {
	case "", "preToolUse", "BeforeTool":
		return preToolUse
	}
	return name
}

func toolName(name string) string {
	switch name {
	case "web_search", "google_web_search":
		return webSearch
	}
	return name
}

func parseSearch(input []byte) Search {
	if text, ok := decodeText(input); ok { // Copilot wraps the arguments in a string
		input = []byte(text)
	}
	fields, err := objectFields(input)
	if err != nil {
		return Search{}
	}
	return Search{
		Query:   fields.string("query"),
		Allowed: fields.list("allowed_domains"),
		Blocked: fields.list("blocked_domains"),
	}
}

// A fieldList holds the fields of a JSON object, their values as they stood.
type fieldList []field

type field struct {
	name  string
	value []byte
}

// raw is the value of the first of the names that the object has, other than
// null; of a name that it has twice, the last one, as in encoding/json.
func (l fieldList) raw(names ...string) []byte {
	for _, name := range names {
		for i := len(l) - 1; i >= 0; i-- {
			if l[i].name == name && string(l[i].value) != "null" {
				return l[i].value
			}
		}
	}
	return nil
}

// string is a string's value.
func (l fieldList) string(names ...string) string {
	s, _ := decodeText(l.raw(names...))
	return s
}

// text is a string's value or a number's digits.
func (l fieldList) text(names ...string) string {
	v := l.raw(names...)
	if s, ok := decodeText(v); ok {
		return s
	}
	if _, err := strconv.ParseFloat(string(v), 64); err == nil {
		return string(v)
	}
	return ""
}

// list is a list's strings, or a string alone.
func (l fieldList) list(name string) []string {
	v := l.raw(name)
	if s, ok := decodeText(v); ok {
		return []string{s}
	}
	var items []json.RawMessage
	if json.Unmarshal(v, &items) != nil {
		return nil
	}
	var list []string
	for _, item := range items {
		if s, ok := decodeText(item); ok {
			list = append(list, s)
		}
	}
	return list
}

func decodeText(v []byte) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err == nil
}

var errNoObject = errors.New("no JSON object")

// objectFields cuts a JSON object into its fields without looking into their
// values: an event can hold a file of many megabytes that the hook has no use
// for, and finding the ends of strings is all that must be done about it.
// Values are checked when they are decoded.
func objectFields(data []byte) (fieldList, error) {
	s := scanner{data: data}
	s.space()
	if !s.take('{') {
		return nil, errNoObject
	}
	fields := make(fieldList, 0, 16)
	s.space()
	for more := !s.take('}'); more; {
		s.space()
		start := s.at
		if !s.text() {
			return nil, s.error("a key")
		}
		name, ok := decodeText(s.data[start:s.at])
		if !ok {
			return nil, s.error("a key")
		}
		s.space()
		if !s.take(':') {
			return nil, s.error("a colon")
		}
		s.space()
		start = s.at
		if !s.value() {
			return nil, s.error("a value")
		}
		fields = append(fields, field{name, s.data[start:s.at]})
		s.space()
		switch {
		case s.take('}'):
			more = false
		case !s.take(','):
			return nil, s.error("a comma or the end of the object")
		}
	}
	s.space()
	if s.at < len(s.data) {
		return nil, s.error("the end")
	}
	return fields, nil
}

type scanner struct {
	data []byte
	at   int
}

func (s *scanner) error(want string) error {
	return errors.New("no JSON object: want " + want + " at byte " + strconv.Itoa(s.at))
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// text passes a string.
func (s *scanner) text() bool {
	if !s.take('"') {
		return false
	}
	for {
		i := bytes.IndexByte(s.data[s.at:], '"')
		if i < 0 {
			s.at = len(s.data)
			return false
		}
		end := s.at + i
		backslashes := 0
		for j := end - 1; j >= s.at && s.data[j] == '\\'; j-- {
			backslashes++
		}
		s.at = end + 1
		if backslashes%2 == 0 {
			return true
		}
	}
}

// value passes a value; of lists and objects it only sees that what opens
// closes.
func (s *scanner) value() bool {
	depth := 0
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case '"':
			if !s.text() {
				return false
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
			continue
		default:
			start := s.at
			for s.at < len(s.data) && !delimits(s.data[s.at]) {
				s.at++
			}
			if depth == 0 && !json.Valid(s.data[start:s.at]) {
				return false
			}
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

func delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}
