// Package usererror makes errors for people: errors with a hint, errors in the command
// line, and messages that name the operation, its object and the reason.
package usererror

import (
	"errors"
	"fmt"
)

// An Invalid is an error in the arguments of a command.
type Invalid struct{ error }

// Unwrap returns the error without the mark.
func (e *Invalid) Unwrap() error { return e.error }

// AsInvalid marks an error as one in the arguments of a command.
func AsInvalid(err error) error { return &Invalid{err} }

// Invalidf returns an Invalid, for argument errors that a command finds after it has
// started.
func Invalidf(format string, args ...any) error {
	return &Invalid{fmt.Errorf(format, args...)}
}

// A hinted is an error with a hint.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// WithHint adds a hint to err: an imperative with a complete command.
func WithHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Hint returns the outermost hint of an error.
func Hint(err error) (hint string, ok bool) {
	h, ok := errors.AsType[*hinted](err)
	if !ok {
		return "", false
	}
	return h.hint, true
}
