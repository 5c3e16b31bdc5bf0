// Command sbom writes the software bill of materials of a Go binary in the JSON
// format of CycloneDX 1.6: the modules that the linker recorded in the binary.
//
//	go run ./test/release/sbom OUTPUT BINARY VERSION
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("want three arguments: OUTPUT BINARY VERSION")
	}
	info, err := buildinfo.ReadFile(args[1])
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(newDocument(info, args[2]), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], append(data, '\n'), 0o644)
}

type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// newDocument describes a binary of the given version. It has no date and no
// serial number, so that a release can be reproduced.
func newDocument(info *debug.BuildInfo, version string) *document {
	d := &document{Format: "CycloneDX", SpecVersion: "1.6", Version: 1}
	d.Metadata.Component = newComponent("application", info.Main.Path, "v"+version)
	d.Components = append(d.Components, newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := newComponent("library", m.Path, m.Version)
		if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
			if raw, err := base64.StdEncoding.DecodeString(sum); err == nil {
				c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
			}
		}
		d.Components = append(d.Components, c)
	}
	return d
}

func newComponent(kind, path, version string) component {
	return component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
}
