package config

import (
	"cmp"
	"testing"
)

func TestCompareVersions(t *testing.T) {
	order := []string{"", "beta", "0.9", "1.0.0-alpha", "1.0.0-rc1", "1.0.0", "1.2", "1.2.0", "1.10.0", "2.0a1", "v2.0.0", "2024.7.4", "99999999999999999999"}
	for i, a := range order {
		for k, b := range order {
			if got := CompareVersions(a, b); got != cmp.Compare(i, k) {
				t.Errorf("CompareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
	if CompareVersions("1.0.0+build", "v1.0.0") != 0 {
		t.Error("build metadata counts")
	}
}

func TestVersionCloseness(t *testing.T) {
	for _, tt := range []struct {
		documented, used string
		want             Closeness
	}{
		{"18.3.1", "18.3.1", SameVersion}, {"3.12", "3.12.4", SameVersion}, {"18", "18.3.1", SameVersion}, {"1.8.1", "v1.8.1", SameVersion},
		{"18.3.0", "18.3.1", SameMinor}, {"18.2.0", "18.3.1", SameMajor}, {"17.0.2", "18.3.1", OtherMajor},
		{"0.5.1", "0.6.0", OtherMajor}, {"0.5.1", "0.5.9", SameMinor}, {"", "1.0", OtherMajor}, {"1.0", "", OtherMajor}, {"main", "1.0", OtherMajor},
	} {
		if got := VersionCloseness(tt.documented, tt.used); got != tt.want {
			t.Errorf("VersionCloseness(%q, %q) = %d, want %d", tt.documented, tt.used, got, tt.want)
		}
	}
}
