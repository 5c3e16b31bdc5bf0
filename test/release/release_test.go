// Package release checks the files of a release that "make release-snapshot"
// builds, and the scripts that a release needs.
package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var update = flag.Bool("update", false, "write the golden file")

// TestContents compares the files of a release, with their contents, to
// testdata/contents.txt. VERSION stands for the version. The list omits the manual
// pages of subcommands, which the tests of the program check.
func TestContents(t *testing.T) {
	dist, version := findDist(t)
	var lines []string
	err := filepath.WalkDir(dist, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(dist, path)
		lines = append(lines, filepath.ToSlash(name))
		var entries []string
		switch {
		case strings.HasSuffix(name, ".tar.gz"):
			entries, err = listTar(path)
		case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".mcpb"):
			entries, err = listZip(path)
		case strings.HasSuffix(name, ".deb"):
			entries, err = listDeb(path)
		}
		position := func(program string) int {
			return slices.IndexFunc(entries, func(e string) bool { return strings.Contains(strings.Replace(e, ".exe ", " ", 1), "bin/"+program+" ") })
		}
		if hook := position("docsearch-hook"); hook >= 0 && hook < position("docsearch") {
			t.Errorf("%s: docsearch-hook comes first; two releases of one commit have the same order", name)
		}
		entries = slices.DeleteFunc(entries, func(e string) bool { return strings.Contains(e, "/man1/docsearch-") })
		slices.Sort(entries)
		for _, e := range entries {
			lines = append(lines, "\t"+e)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lines, "\n") + "\n"
	for _, v := range []string{version, strings.ReplaceAll(version, "-", "~")} {
		got = strings.ReplaceAll(got, v, "VERSION")
	}
	const golden = "testdata/contents.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v; to see the difference, run go test ./test/release -update, then git diff", err)
	}
}

// TestChecksums checks that SHA256SUMS has the right sum of each published file.
func TestChecksums(t *testing.T) {
	dist, _ := findDist(t)
	data, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	for _, pattern := range []string{"*.tar.gz", "*.zip", "*.deb", "*.rpm", "*.cdx.json", "*.mcpb", "server.json"} {
		files, err := filepath.Glob(filepath.Join(dist, pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("%d files match %s, %v", len(files), pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(data)
			if name := filepath.Base(file); sums[name] != hex.EncodeToString(sum[:]) {
				t.Errorf("SHA256SUMS has %q for %s", sums[name], name)
			}
		}
	}
}

// TestStarts starts the binaries of each platform from its archive: on this system, or with
// an emulator of QEMU.
func TestStarts(t *testing.T) {
	dist, version := findDist(t)
	commit := strings.TrimSpace(run(t, root, "git", "rev-parse", "HEAD"))
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"} {
		t.Run(platform, func(t *testing.T) {
			emulator := findEmulator(t, platform)
			archive, ext, walk := "docsearch_"+version+"_"+platform+".tar.gz", "", walkTar
			if strings.HasPrefix(platform, "windows") {
				archive, ext, walk = "docsearch_"+version+"_"+platform+".zip", ".exe", walkZip
			}
			start := func(name string, args ...string) ([]byte, error) {
				program := filepath.Join(t.TempDir(), name+ext)
				if err := extract(filepath.Join(dist, archive), "bin/"+name+ext, program, walk); err != nil {
					t.Fatal(err)
				}
				command := slices.Concat(emulator, []string{program}, args)
				return exec.Command(command[0], command[1:]...).Output()
			}
			if out, err := start("docsearch-hook", "version"); err != nil || string(out) != "docsearch-hook v"+version+"\n" {
				t.Errorf("docsearch-hook printed %q, %v", out, err)
			}
			out, err := start("docsearch", "version", "--json")
			var build struct{ Version, Commit, OS, Arch string }
			if err := errors.Join(err, json.Unmarshal(out, &build)); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if build.Version != "v"+version || build.Commit != commit || build.OS+"_"+build.Arch != platform {
				t.Errorf("the binary is %+v, want v%s of %s for %s", build, version, commit, platform)
			}
		})
	}
}

// findEmulator returns the command that runs programs of a platform, which is empty on the
// same platform. It skips the test if there is none.
func findEmulator(t *testing.T, platform string) []string {
	t.Helper()
	if platform == runtime.GOOS+"_"+runtime.GOARCH {
		return nil
	}
	if machine, ok := map[string]string{"linux_amd64": "x86_64", "linux_arm64": "aarch64"}[platform]; ok && runtime.GOOS == "linux" {
		for _, name := range []string{"qemu-" + machine + "-static", "qemu-" + machine} {
			if emulator, err := exec.LookPath(name); err == nil {
				return []string{emulator}
			}
		}
		t.Skipf("skipped: qemu-%s not found", machine)
	}
	t.Skip("skipped: needs its own system")
	return nil
}

// TestBundleSize checks that the bundle, which contains the programs of all systems, is a
// small download.
func TestBundleSize(t *testing.T) {
	dist, version := findDist(t)
	info, err := os.Stat(filepath.Join(dist, "docsearch_"+version+".mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(60_000_000); info.Size() > limit {
		t.Errorf("the bundle has %d bytes, want at most %d", info.Size(), limit)
	}
}

// findDist returns the folder of the release and its version.
func findDist(t *testing.T) (dir, version string) {
	t.Helper()
	dir = filepath.Join(root, "dist")
	data, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("skipped: run make release-snapshot")
	}
	var metadata struct{ Version string }
	if err := errors.Join(err, json.Unmarshal(data, &metadata)); err != nil {
		t.Fatal(err)
	}
	return dir, metadata.Version
}

// A walker calls f with each file of an archive and its name.
type walker func(archive string, f func(name string, mode fs.FileMode, r io.Reader) error) error

func extract(archive, name, to string, walk walker) error {
	found := false
	err := walk(archive, func(entry string, mode fs.FileMode, r io.Reader) error {
		if entry != name {
			return nil
		}
		found = true
		f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Close())
	})
	if err == nil && !found {
		err = fmt.Errorf("%s has no %s", archive, name)
	}
	return err
}

func listTar(archive string) ([]string, error) { return list(archive, walkTar) }

func listZip(archive string) ([]string, error) { return list(archive, walkZip) }

// list returns the mode and the name of each file.
func list(archive string, walk walker) ([]string, error) {
	var entries []string
	err := walk(archive, func(name string, mode fs.FileMode, _ io.Reader) error {
		entries = append(entries, name+" "+mode.String())
		return nil
	})
	return entries, err
}

// listDeb returns the files that a Debian package installs.
func listDeb(archive string) ([]string, error) {
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", archive, err)
	}
	cmd := exec.Command(dpkg, "--fsys-tarfile", archive)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var entries []string
	err = readTar(out, func(name string, mode fs.FileMode, _ io.Reader) error {
		entries = append(entries, name+" "+mode.String())
		return nil
	})
	return entries, errors.Join(err, cmd.Wait())
}

func walkTar(archive string, f func(string, fs.FileMode, io.Reader) error) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	return readTar(r, f)
}

func readTar(r io.Reader, f func(string, fs.FileMode, io.Reader) error) error {
	entries := tar.NewReader(r)
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if err := f(header.Name, header.FileInfo().Mode(), entries); err != nil {
			return err
		}
	}
}

func walkZip(archive string, f func(string, fs.FileMode, io.Reader) error) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, entry := range r.File {
		content, err := entry.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(f(entry.Name, entry.Mode(), content), content.Close()); err != nil {
			return err
		}
	}
	return nil
}
