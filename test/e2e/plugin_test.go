//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"
)

// The plugin and its marketplace are as each client wants them. The oldest
// has no strict validation.
func TestPluginIsValid(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := newSession(t, version)
			for _, dir := range []string{filepath.Join(root(t), "plugin"), root(t)} {
				args := []string{"plugin", "validate", "--strict", dir}
				if version == "2.0.30" {
					args = []string{"plugin", "validate", dir}
				}
				s.claude(t, "", args...) // fails the test if the client does
			}
		})
	}
}
