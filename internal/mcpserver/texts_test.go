package mcpserver

import (
	"testing"

	"github.com/docsearch/docsearch/internal/humanize/textfile/textfiletest"
)

func TestTexts(t *testing.T) { textfiletest.Check(t) }
