// Command bundle writes the MCP bundle of a release, and its entry in the MCP registry:
//
//	go run ./test/release/bundle BUNDLE SERVER DIST VERSION SECONDS
//
// DIST is the output folder of goreleaser. BUNDLE is a zip archive for desktop
// applications:
//
//	manifest.json                   the bundle's description, with VERSION
//	LICENSE
//	server/docsearch                a script that runs the program of the system
//	server/docsearch-SYSTEM-MACHINE the programs, named by "uname -s" and "uname -m"
//	server/docsearch.exe            the program for Windows
//
// A manifest can select a command by system, but not by machine. So a script selects the
// program on macOS and Linux, and the bundle has one program for Windows, which runs
// programs for amd64 on arm64, too. All files have the date SECONDS since 1970, so that a
// release can be reproduced.
//
// SERVER is a JSON file in the format of the registry's schema 2025-12-11. It lists the
// npm package, and the bundle with its SHA-256 sum.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

//go:embed manifest.json
var manifest []byte

//go:embed docsearch
var launcher []byte

// programs are the programs of a bundle. The pattern finds one in the output folder of
// goreleaser.
var programs = []struct{ platform, pattern, name string }{
	{"darwin", "*_darwin_amd64_*/bin/docsearch", "docsearch-Darwin-x86_64"},
	{"darwin", "*_darwin_arm64_*/bin/docsearch", "docsearch-Darwin-arm64"},
	{"win32", "*_windows_amd64_*/bin/docsearch.exe", "docsearch.exe"},
	{"linux", "*_linux_amd64_*/bin/docsearch", "docsearch-Linux-x86_64"},
	{"linux", "*_linux_arm64_*/bin/docsearch", "docsearch-Linux-aarch64"},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return errors.New("want five arguments: BUNDLE SERVER DIST VERSION SECONDS")
	}
	seconds, err := strconv.ParseInt(args[4], 10, 64)
	if err != nil {
		return fmt.Errorf("invalid SECONDS %q: want an integer", args[4])
	}
	bundle, version := args[0], args[3]
	data, err := newBundle(args[2], version, time.Unix(seconds, 0).UTC())
	if err != nil {
		return err
	}
	server, err := newServer(version, path.Base(filepath.ToSlash(bundle)), sha256.Sum256(data))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(bundle, data, 0o644), os.WriteFile(args[1], server, 0o644))
}

// newBundle returns a bundle of the programs in dist. A bundle of some of them supports
// fewer platforms.
func newBundle(dist, version string, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	add := func(name string, mode os.FileMode, content []byte) error {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: modified}
		header.SetMode(mode)
		f, err := w.CreateHeader(header)
		if err == nil {
			_, err = f.Write(content)
		}
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	files, platforms, err := findPrograms(dist)
	if err != nil {
		return nil, err
	}
	description, err := fillManifest(version, platforms)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		add("manifest.json", 0o644, description),
		add("LICENSE", 0o644, license),
		add("server/docsearch", 0o755, launcher))
	for _, file := range files {
		var program []byte
		if err == nil {
			program, err = os.ReadFile(file.path)
		}
		if err == nil {
			err = add("server/"+file.name, 0o755, program)
		}
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

type program struct{ name, path string }

// findPrograms returns the programs in dist and the platforms on which they run.
func findPrograms(dist string) (files []program, platforms []string, err error) {
	for _, p := range programs {
		found, err := filepath.Glob(filepath.Join(dist, filepath.FromSlash(p.pattern)))
		if err != nil || len(found) > 1 {
			return nil, nil, fmt.Errorf("%d files match %s, want one: %w", len(found), p.pattern, err)
		}
		if len(found) == 0 {
			continue
		}
		files = append(files, program{p.name, found[0]})
		if !slices.Contains(platforms, p.platform) {
			platforms = append(platforms, p.platform)
		}
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("no program found in %s", dist)
	}
	return files, platforms, nil
}

// fillManifest returns the manifest of a version.
func fillManifest(version string, platforms []string) ([]byte, error) {
	list, err := json.Marshal(platforms)
	if err != nil {
		return nil, err
	}
	filled := manifest
	for _, field := range []struct{ old, new string }{
		{`"version": "0.0.0"`, `"version": ` + strconv.Quote(version)},
		{`"platforms": []`, `"platforms": ` + string(list)},
	} {
		if bytes.Count(filled, []byte(field.old)) != 1 {
			return nil, fmt.Errorf("the manifest does not contain %s once", field.old)
		}
		filled = bytes.Replace(filled, []byte(field.old), []byte(field.new), 1)
	}
	return filled, nil
}

type server struct {
	Schema      string     `json:"$schema"`
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	WebsiteURL  string     `json:"websiteUrl"`
	Repository  repository `json:"repository"`
	Version     string     `json:"version"`
	Packages    []any      `json:"packages"`
}

type repository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type npmPackage struct {
	RegistryType string     `json:"registryType"`
	Identifier   string     `json:"identifier"`
	Version      string     `json:"version"`
	Transport    transport  `json:"transport"`
	RuntimeHint  string     `json:"runtimeHint"`
	Arguments    []argument `json:"packageArguments"`
}

type bundlePackage struct {
	RegistryType string    `json:"registryType"`
	Identifier   string    `json:"identifier"`
	FileSHA256   string    `json:"fileSha256"`
	Transport    transport `json:"transport"`
}

type transport struct {
	Type string `json:"type"`
}

type argument struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// newServer returns the entry of the registry for a bundle with the given name and sum.
func newServer(version, bundle string, sum [sha256.Size]byte) ([]byte, error) {
	var about struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Homepage    string `json:"homepage"`
	}
	if err := json.Unmarshal(manifest, &about); err != nil {
		return nil, err
	}
	module, ok := strings.CutPrefix(about.Homepage, "https://")
	if !ok {
		return nil, fmt.Errorf("invalid homepage %q: want a URL with https", about.Homepage)
	}
	stdio := transport{"stdio"}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(server{
		Schema:      "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:        "io." + strings.Replace(module, ".com/", ".", 1), // npm/build.mjs, too
		Title:       about.Name,
		Description: about.Description,
		WebsiteURL:  about.Homepage,
		Repository:  repository{about.Homepage, "github"},
		Version:     version,
		Packages: []any{
			npmPackage{"npm", "docsearch-cli", version, stdio, "npx", []argument{{"positional", "serve"}}},
			bundlePackage{"mcpb", about.Homepage + "/releases/download/v" + version + "/" + bundle, hex.EncodeToString(sum[:]), stdio},
		},
	})
	return b.Bytes(), err
}
