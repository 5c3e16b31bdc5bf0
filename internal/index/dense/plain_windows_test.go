package dense

import "testing"

func benchmarkPlain(*testing.B, int) {}
