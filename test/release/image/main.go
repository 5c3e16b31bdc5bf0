// Image writes an OCI image with a static docsearch binary and nothing else:
//
//	go run ./test/release/image -o FILE.tar PLATFORM=BINARY...
//
// PLATFORM is like linux/amd64. The result is a tar file with an OCI image layout (see the
// image specification), which docker load, podman load and skopeo read. It needs no daemon
// and no base image, and the same binaries give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

func main() {
	out := flag.String("o", "docsearch-image.tar", "write the image to `FILE`")
	tag := flag.String("tag", "docsearch:latest", "set the name of the image to `NAME`")
	flag.Parse()
	if err := write(*out, *tag, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
	// user is the user and group of the process, "nonroot" in many base images.
	user = 65532
)

// A descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
}

// An image collects the files of a layout.
type image struct {
	tar *tar.Writer
}

// write writes the image of the binaries, each given as PLATFORM=BINARY.
func write(out, tag string, binaries []string) error {
	if len(binaries) == 0 {
		return errors.New("want PLATFORM=BINARY, such as linux/amd64=./docsearch")
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	i := image{tar.NewWriter(f)}
	err = i.write(tag, binaries)
	return errors.Join(err, i.tar.Close(), f.Close())
}

func (i *image) write(tag string, binaries []string) error {
	if err := i.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)); err != nil {
		return err
	}
	var manifests []descriptor
	for _, arg := range binaries {
		name, path, ok := strings.Cut(arg, "=")
		system, arch, hasArch := strings.Cut(name, "/")
		if !ok || !hasArch {
			return fmt.Errorf("invalid argument %q: want PLATFORM=BINARY", arg)
		}
		binary, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		d, err := i.manifest(platform{system, arch}, binary)
		if err != nil {
			return err
		}
		d.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": "docker.io/library/" + tag}
		manifests = append(manifests, d)
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests})
	if err != nil {
		return err
	}
	return i.file("index.json", index)
}

// manifest adds the blobs of one platform.
func (i *image) manifest(p platform, binary []byte) (descriptor, error) {
	layer, err := layerOf(binary)
	if err != nil {
		return descriptor{}, err
	}
	layerBlob, err := i.blob(layerType, layer)
	if err != nil {
		return descriptor{}, err
	}
	config, err := i.json(configType, map[string]any{
		"architecture": p.Architecture, "os": p.OS,
		"config": map[string]any{
			"User":         fmt.Sprintf("%d:%d", user, user),
			"Entrypoint":   []string{"/docsearch"},
			"Cmd":          []string{"serve", "--http=:7373"},
			"ExposedPorts": map[string]any{"7373/tcp": map[string]any{}},
			"Env": []string{"DOCSEARCH_DATA=/data", "DOCSEARCH_CONFIG_PATH=/data/config.json",
				"DOCSEARCH_CACHE_DIR=/tmp/cache", "DOCSEARCH_STATE_DIR=/tmp/state", "HOME=/tmp"},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{layerBlob.Digest}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := i.json(manifestType, map[string]any{"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layerBlob}})
	d.Platform = &p
	return d, err
}

// layerOf returns a layer with the program and the folders that it writes to.
func layerOf(binary []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "docsearch", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(binary))},
		{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: user, Gid: user},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
	} {
		h.ModTime = time.Unix(0, 0)
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(binary); err != nil {
				return nil, err
			}
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func (i *image) json(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return descriptor{}, err
	}
	return i.blob(mediaType, data)
}

// blob adds a blob under its digest.
func (i *image) blob(mediaType string, data []byte) (descriptor, error) {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: int64(len(data))}, i.file("blobs/sha256/"+name, data)
}

func (i *image) file(name string, data []byte) error {
	if err := i.tar.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0)}); err != nil {
		return err
	}
	_, err := io.Copy(i.tar, bytes.NewReader(data))
	return err
}
