package edit

import (
	"reflect"
	"slices"
	"strings"
)

// Remove returns the contents of the config file at path without the entry of that name,
// or data, the current contents, if there is no such entry. It also removes comments
// within the entry; everything else stays, byte for byte. Its errors are those of Put.
func Remove(path string, data []byte, name string) ([]byte, error) {
	f, values, key, err := open(path, data, "databases")
	if err != nil {
		return nil, err
	}
	list, isList := values[key].([]any)
	at, _ := findDatabase(values, path, name)
	if !isList || at < 0 {
		return data, nil
	}
	if err := f.removeEntry(key, at); err != nil {
		return nil, err
	}
	values[key] = slices.Delete(slices.Clone(list), at, at+1)
	after, err := f.decode()
	if err != nil || !reflect.DeepEqual(withoutEmpty(after, key), withoutEmpty(values, key)) {
		return nil, ErrManualEdit
	}
	return []byte(f.mark + f.text), nil
}

// withoutEmpty removes the key of an empty list, which some formats cannot represent.
func withoutEmpty(values map[string]any, key string) map[string]any {
	if list, isList := values[key].([]any); values[key] == nil || isList && len(list) == 0 {
		delete(values, key)
	}
	return values
}

// removeEntry removes the entry at a position of the list from the text.
func (f *file) removeEntry(key string, at int) error {
	root, err := f.parse()
	if err != nil {
		return err
	}
	databases := root.child(key)
	if databases != nil && at < len(databases.items) && databases.items[at].kind != object {
		return ErrManualEdit
	}
	return f.removeFrom(databases, at)
}

// removeFrom removes the item at a position of a list from the text.
func (f *file) removeFrom(v *node, at int) error {
	switch {
	case v == nil || v.kind != list || at >= len(v.items):
		return ErrManualEdit
	case v.block:
		return f.removeLines(v.items[at])
	}
	f.removeItem(v, at)
	return nil
}

// removeLines removes the lines of an entry of a list without brackets.
func (f *file) removeLines(entry *node) error {
	from := entry.start
	if f.format == "yaml" {
		// The dash may be on a line of its own.
		from = len(strings.TrimRight(f.text[:from], " \t\r\n")) - 1
		if from < 0 || f.text[from] != '-' {
			return ErrManualEdit
		}
	}
	from = f.lineStart(from)
	to := f.nextLine(entry.end)
	if before := f.lineStart(max(0, from-1)); f.format == "toml" && before < from && strings.TrimSpace(f.text[before:from]) == "" {
		from = before // the blank line before the table
	}
	f.splice(from, to, "")
	return nil
}

// removeItem removes an item of a list in brackets, with its comma.
func (f *file) removeItem(databases *node, at int) {
	item := databases.items[at]
	from, to := item.start, item.end
	last := at == len(databases.items)-1
	if !last || databases.comma {
		to = f.nextComma(item.end) + 1
	} else if at > 0 {
		comma := f.nextComma(databases.items[at-1].end)
		f.splice(comma, comma+1, "")
		from, to = from-1, to-1
	}
	start, end := f.lineStart(from), f.lineEnd(to)
	blankBefore, blankAfter := strings.TrimSpace(f.text[start:from]) == "", strings.TrimSpace(f.text[to:end]) == ""
	switch {
	case blankBefore && blankAfter:
		from, to = start, f.nextLine(to)
	case last && !blankAfter:
		from = f.endOfText(from)
	case blankAfter:
		from = len(strings.TrimRight(f.text[:from], " \t"))
	case !blankBefore:
		to += len(f.text[to:end]) - len(strings.TrimLeft(f.text[to:end], " \t"))
	}
	f.splice(from, to, "")
}

// endOfText returns the end of the text before at. If that is a comment it returns at,
// because a closing bracket may follow.
func (f *file) endOfText(at int) int {
	end := len(strings.TrimRight(f.text[:at], " \t\r\n"))
	if f.format != "json" && strings.Contains(f.text[f.lineStart(end):end], "#") {
		return at
	}
	return end
}

// nextComma returns the position of the next comma outside comments.
func (f *file) nextComma(at int) int {
	p := f.flowParser()
	p.at = at
	p.skipBlanks()
	return p.at
}

// lineStart returns the start of the line that contains at.
func (f *file) lineStart(at int) int { return strings.LastIndexByte(f.text[:at], '\n') + 1 }

// nextLine returns the start of the line after the one that contains at.
func (f *file) nextLine(at int) int {
	if i := strings.IndexByte(f.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(f.text)
}
