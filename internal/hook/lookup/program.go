package lookup

import (
	"os"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
)

// programWord returns the word that runs docsearch in the agent's shell: its name if that is the
// program of this process on PATH, otherwise its path.
func programWord() string {
	const name = "docsearch"
	own, err := hook.Program()
	if err != nil {
		return name
	}
	program, err := os.Stat(own)
	if err != nil {
		return name
	}
	file := name
	if strings.HasSuffix(own, ".exe") {
		file += ".exe"
	}
	for dir := range strings.SplitSeq(os.Getenv("PATH"), string(os.PathListSeparator)) {
		if !config.IsAbs(dir) {
			continue
		}
		if found, err := os.Stat(config.Join(dir, file)); err == nil {
			if os.SameFile(found, program) {
				return name
			}
			break
		}
	}
	return config.ShellPath(own)
}
