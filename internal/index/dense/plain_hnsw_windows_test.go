package dense

import "testing"

func benchmarkPlainHNSW(*testing.B, int) {}
