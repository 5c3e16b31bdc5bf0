//go:build !onnx

package index

import (
	"errors"

	"github.com/docsearch/docsearch/internal/index/embed"
)

// openONNX is without the runtime, unless the program is built with the tag
// onnx: five of its packages would be initialised before the hook answers,
// which costs every hook a tenth of its time.
func (s EmbedderSpec) openONNX() (embed.Provider, error) {
	return nil, errors.New("this docsearch was built without ONNX: build it with -tags onnx, or let Ollama or a server of OpenAI's protocol run the model")
}
