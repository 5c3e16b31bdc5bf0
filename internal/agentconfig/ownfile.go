package agentconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// An ownFile is a file that only docsearch writes, such as a plugin.
type ownFile struct {
	// render returns the contents for a program.
	render func(program string) string
	// read returns the hook in the file; nil if docsearch did not write the file.
	read func(data []byte) []Hook
	// other is the form that the file has in another mode of install; nil: none.
	other *ownFile
}

func (f ownFile) put(data []byte, program Program) ([]byte, error) {
	if len(data) > 0 && f.read(data) == nil {
		return nil, errors.New("another program wrote it; move it away first")
	}
	if after := []byte(f.render(program.Hook)); !bytes.Equal(after, data) {
		return after, nil
	}
	return data, nil
}

func (f ownFile) drop(data []byte) ([]byte, error) {
	if f.read(data) != nil {
		return nil, nil
	}
	return data, nil
}

// isWritten reports whether the file is as docsearch writes it, in one of its forms.
func (f ownFile) isWritten(data []byte) bool {
	if f.other != nil && f.other.isWritten(data) {
		return true
	}
	hooks := f.read(data)
	if hooks == nil {
		return false
	}
	program := ""
	if len(hooks) > 0 {
		program = hooks[0].Program
	}
	return f.render(program) == string(data)
}

func (f ownFile) find(data []byte) ([]Hook, []Server) { return f.read(data), nil }

// ownJSON is an ownFile with JSON: a template with the hook's command as "COMMAND". It has
// docsearch's hook or name.
func ownJSON(template string, run invocation) ownFile {
	return ownFile{
		render: func(program string) string {
			var b bytes.Buffer
			if err := json.Indent(&b, fill(template, "COMMAND", run.command(program)), "", "  "); err != nil {
				panic("agentconfig: internal error: " + err.Error())
			}
			return b.String() + "\n"
		},
		read: func(data []byte) []Hook {
			if hooks := findHooks("", data); len(hooks) > 0 || decoded("", data)["name"] != "docsearch" {
				return hooks
			}
			return []Hook{}
		},
	}
}

// scriptFile is an ownFile with a script that runs the hook. The line that starts with
// assignment has the program; in text, its rest is a placeholder. command is the command
// line after the program.
func scriptFile(text, assignment, command string) ownFile {
	before, line, _ := strings.Cut(text, assignment)
	_, after, _ := strings.Cut(line, "\n")
	return ownFile{
		render: func(program string) string { return before + assignment + toJSON(program) + "\n" + after },
		read: func(data []byte) []Hook {
			for line := range bytes.Lines(data) {
				program := ""
				if value, ok := bytes.CutPrefix(line, []byte(assignment)); ok && json.Unmarshal(value, &program) == nil {
					return []Hook{{Command: quote(program) + command, Program: program}}
				}
			}
			return nil
		},
	}
}
