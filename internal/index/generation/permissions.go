package generation

import (
	"errors"
	"io/fs"
	"runtime"

	"github.com/docsearch/docsearch/internal/file/confined"
)

const (
	// AllPerm allows everybody to read and write.
	AllPerm fs.FileMode = 0o666
	// newFilePerm are the permissions that a build requests, subject to the umask.
	newFilePerm fs.FileMode = 0o644
	// OwnerPerm are the permissions that the owner of a database always has.
	OwnerPerm fs.FileMode = 0o600
)

// Perm returns the maximum permissions of files derived from the given file. Users who
// cannot read the file must not be able to read derived files.
func Perm(info fs.FileInfo) fs.FileMode {
	return OwnerPerm | sharedPerm(info, info.Mode().Perm()&AllPerm)
}

// FolderPerm returns the maximum permissions of files derived from files in the given
// folder. Users who cannot enter the folder cannot read its files.
func FolderPerm(info fs.FileInfo) fs.FileMode {
	enter := info.Mode().Perm() & 0o111
	return OwnerPerm | sharedPerm(info, enter<<1|enter<<2)
}

// sharedPerm removes group permissions that would apply to another group, because new
// files belong to the process's group.
func sharedPerm(info fs.FileInfo, perm fs.FileMode) fs.FileMode {
	if runtime.GOOS == "windows" {
		return AllPerm // new files inherit the permissions of their folder
	}
	if perm&0o006 == 0 && !inOwnGroup(info) {
		perm &^= 0o060
	}
	return perm
}

// removePerm removes the permissions of a file that are not in perm. It ignores missing
// files and does nothing on Windows.
func removePerm(file confined.Path, perm fs.FileMode) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	st, err := file.Lstat()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !st.Mode().IsRegular() || st.Mode().Perm()&^perm == 0 {
		return err
	}
	return file.Chmod(st.Mode().Perm() & perm)
}

// setPerm sets the mode of a file or folder. It does nothing on Windows.
func setPerm(file confined.Path, perm fs.FileMode) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	st, err := file.Lstat()
	if err != nil || st.Mode().Perm() == perm {
		return err
	}
	return file.Chmod(perm)
}
