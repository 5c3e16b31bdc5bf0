// Package lexical is the inverted index: it finds passages by their words.
// Standard library and a stemmer only, because the hook searches through it.
package lexical
