package library

import (
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
)

// RepairCommand returns the command that repairs the database's index, or "" if
// none is needed or none would help.
func RepairCommand(d Ref) string {
	_, state, _ := Inspect(d.Path)
	if d.Project != "" && state != StateOK {
		return "docsearch setup --project " + humanize.Argument(d.Project)
	}
	switch state {
	case StateStale:
		return "docsearch update " + humanize.Argument(d.Path)
	case StateNoIndex:
		return "docsearch index build " + humanize.Argument(d.Path)
	case StateOK, StateMissing:
		return ""
	}
	db, err := index.Open(d.Path)
	if err == nil {
		db.Close()
	}
	return index.Repair(humanize.Argument(d.Path), err)
}
