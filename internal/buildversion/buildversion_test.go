package buildversion

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	recorded := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	for _, tt := range []struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		{"v2.0.0", recorded, "v2.0.0"},
		{"", recorded, "v1.2.3"},
		{"", &debug.BuildInfo{}, "(devel)"},
		{"", nil, "(devel)"},
	} {
		if got := of(tt.linked, tt.info); got != tt.want {
			t.Errorf("linked %q, recorded %+v: %q, want %q", tt.linked, tt.info, got, tt.want)
		}
	}
	if Of("") == "" {
		t.Error("a program without a version")
	}
}
