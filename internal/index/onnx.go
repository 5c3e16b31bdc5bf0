//go:build onnx

package index

import (
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/embed/onnx"
)

func (s EmbedderSpec) openONNX() (embed.Provider, error) {
	return onnx.Open(s.Model, onnx.Options{QueryTemplate: s.QueryTemplate, DocumentTemplate: s.DocumentTemplate})
}
