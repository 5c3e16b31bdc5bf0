package event

import "github.com/docsearch/docsearch/internal/hook/rawjson"

// readGoose reads an event of Goose.
func (e *Event) readGoose(f rawjson.Fields) {
	input := f.Raw("tool_input")
	switch e.ClientTool {
	case "developer__shell":
		e.Tool = Bash
	case "developer__text_editor":
		switch parseInput(input).String("command") {
		case "write":
			e.Tool = Write
		case "view":
			e.Tool = Read
		default:
			e.Tool = Edit
		}
	}
	e.readInput(input)
}
