// Package kettle boils water.
//
// # Safety
//
// A kettle is never empty; see [Kettle.Fill] and [os.Exit].
//
//   - Fill it first.
//   - Then call [Boil].
//
// An example:
//
//	Boil(k)
package kettle

import "errors"

// Limits of a kettle.
const (
	MaxWater = 2 // litres
	minWater = 1
	MinHeat  = 20
	MaxHeat  = 100
	Pause    = 5
)

// ErrEmpty is returned for a kettle without water.
var ErrEmpty = errors.New("empty")

var unexported = 1

// A Kettle holds water.
type Kettle struct {
	// Water in litres.
	Water float64
	heat  int
}

type (
	// A Source gives water.
	Source interface {
		// Open begins to give water.
		Open() error
		close()
	}
	hidden      struct{ X int }
	List[T any] []T
)

// Boil heats the water of k.
func Boil(k *Kettle) error {
	if k.Water == 0 {
		return ErrEmpty
	}
	return nil
}

// Fill takes water from s.
func (k *Kettle) Fill(s Source) error { return s.Open() }

// Len returns the number of items.
func (l *List[T]) Len() int { return 0 }

func (k *Kettle) cool()     {}
func (h *hidden) Exported() {}
