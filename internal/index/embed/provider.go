package embed

import "context"

// A Kind says what a text is to be embedded as. Some models are asked in other
// words for a query than for a document.
type Kind int

const (
	Document Kind = iota
	Query
)

// A Provider turns texts into vectors by somebody else's model. It may be used
// from several goroutines at once.
type Provider interface {
	// ID names the provider and its model. Vectors of different IDs cannot be
	// compared.
	ID() string
	// Dimensions is the number of a vector's numbers, 0 if that is not known
	// before the first vector.
	Dimensions() int
	// Embed returns one vector for each text. An error means that none could
	// be had; what went wrong at the provider's end says so.
	Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error)
}
