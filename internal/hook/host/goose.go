package host

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

var goose = Client{Host: event.Goose, joint: "__", render: renderGoose}

func renderGoose(_ *event.Event, r Reply) Output {
	if r.Verdict != Deny {
		return Output{}
	}
	var o rawjson.Writer
	o.Text("decision", "block")
	o.Text("reason", r.joined())
	return Output{Stdout: line(o)}
}
