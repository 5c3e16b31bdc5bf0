package served

import (
	"errors"
	"fmt"
	"os"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/usererror"
)

// An ElsewhereError reports that another machine holds a database, and the command needs
// one on this machine.
type ElsewhereError struct {
	Ref     library.Ref
	cluster *config.Cluster // nil: a docsearch server
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the database %q is on %s, and this command needs one on this machine", e.Ref.Name, e.Ref.Host)
}

// explain adds a command that works. command is the one for databases in a cluster, with
// the flags of the cluster appended; "": cluster pull.
func (e *ElsewhereError) explain(command string) error {
	if e.cluster == nil {
		return usererror.WithHint(e, "run docsearch search --db %s QUERY to search it there",
			humanize.Argument(e.Ref.Name))
	}
	flag := "cluster"
	if command == "" {
		command, flag = "cluster pull", "from"
	}
	flags := cluster.Options{URLs: e.cluster.URLs, KeyVariable: e.cluster.KeyEnv}
	return usererror.WithHint(e, "run docsearch %s %s %s", command, humanize.Argument(e.cluster.Database),
		flags.Arguments(flag))
}

// findElsewhere returns the error for a database of the config that another machine holds,
// or nil if there is none with that name.
func findElsewhere(arg string) *ElsewhereError {
	remotes := OpenRemotes(config.Locate(os.Getenv))
	defer remotes.Close()
	for _, d := range remotes.Databases() {
		if d.isNamed(arg) {
			return &ElsewhereError{d.Ref(), d.Cluster}
		}
	}
	return nil
}

// Elsewhere returns the error for a database that another machine holds, or nil.
func Elsewhere(name string) error {
	if found := findElsewhere(name); found != nil {
		return found.explain("")
	}
	return nil
}

// ExplainElsewhere replaces the hint of an elsewhereError by the command for databases in a
// cluster.
func ExplainElsewhere(err error, command string) error {
	if elsewhere, ok := errors.AsType[*ElsewhereError](err); ok {
		return elsewhere.explain(command)
	}
	return err
}
