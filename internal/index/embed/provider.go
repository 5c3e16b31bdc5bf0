package embed

import "context"

// A Kind is the role of a text. Some models need different prompts for queries
// and documents.
type Kind int

const (
	Document Kind = iota
	Query
)

// A Provider embeds texts with an external model. It must be safe for
// concurrent use.
type Provider interface {
	// ID identifies the provider and its model. Vectors of different IDs are not
	// comparable.
	ID() string
	// Dimensions returns the dimensionality of the vectors, or 0 if it is
	// unknown before the first vector.
	Dimensions() int
	// Embed returns one vector per text, or an error and no vectors. An error
	// of the provider's server includes the server's message.
	Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error)
}
