package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The image has one layer with the program alone, which runs in it without any other file
// and without rights. Two images of the same program are equal.
func TestImage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "docsearch")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, "github.com/docsearch/docsearch/cmd/docsearch")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first, second := filepath.Join(dir, "1.tar"), filepath.Join(dir, "2.tar")
	for _, path := range []string{first, second} {
		if err := write(path, "docsearch:test", []string{"linux/" + runtime.GOARCH + "=" + binary}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(second); err != nil || !bytes.Equal(a, b) {
		t.Errorf("two images differ, %v", err)
	}
	files := untar(t, bytes.NewReader(a))
	blob := func(d descriptor) []byte {
		data := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if int64(len(data)) != d.Size {
			t.Fatalf("%s has %d bytes, want %d", d.Digest, len(data), d.Size)
		}
		return data
	}
	var index struct{ Manifests []descriptor }
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
			Env        []string
		}
	}
	decode(t, files["index.json"], &index)
	if len(index.Manifests) != 1 {
		t.Fatalf("%d platforms", len(index.Manifests))
	}
	decode(t, blob(index.Manifests[0]), &manifest)
	decode(t, blob(manifest.Config), &config)
	if len(manifest.Layers) != 1 || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/docsearch"}) {
		t.Fatalf("manifest %+v, config %+v", manifest, config)
	}
	rootfs := filepath.Join(dir, "root")
	layer := untar(t, bytes.NewReader(blob(manifest.Layers[0])))
	if len(layer) != 3 {
		t.Errorf("the layer has %d entries, want the program and two folders", len(layer))
	}
	for _, folder := range []string{"data", "tmp"} {
		if err := os.MkdirAll(filepath.Join(rootfs, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(rootfs, "docsearch"), layer["docsearch"], 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, rootfs, config.Config.Env)
}

// run serves in the root of the image, in a user namespace of its own.
func run(t *testing.T, rootfs string, env []string) {
	t.Helper()
	cmd := exec.Command("/docsearch", "serve", "--http", "127.0.0.1:0")
	cmd.Env, cmd.Dir = env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: rootfs, Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // Pdeathsig is that of the thread
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
			t.Skipf("this system permits no user namespaces: %v", err)
		}
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "serving on ")
	if err != nil || !found {
		cmd.Wait()
		t.Fatalf("%v: %q", err, line)
	}
	res, err := http.Get(strings.TrimSuffix(url, "/mcp") + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func untar(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err == nil {
			files[h.Name], err = io.ReadAll(archive)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}
