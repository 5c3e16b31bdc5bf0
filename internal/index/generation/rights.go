package generation

import (
	"errors"
	"io/fs"
	"runtime"

	"github.com/docsearch/docsearch/internal/confined"
)

const (
	// AllRights are those of a file that everybody may read and write.
	AllRights fs.FileMode = 0o666
	// newRights are those that a build asks for. The user's umask may take some away.
	newRights fs.FileMode = 0o644
	// ownerRights are those that the owner of a database always has.
	ownerRights fs.FileMode = 0o600
)

// Rights are those that a file derived from the given one may have at most: who
// may not read the one must not read the other.
func Rights(info fs.FileInfo) fs.FileMode {
	return ownerRights | sharedRights(info, info.Mode().Perm()&AllRights)
}

// FolderRights are those that files derived from files in the folder may have at
// most: who may not enter it cannot read them.
func FolderRights(info fs.FileInfo) fs.FileMode {
	enter := info.Mode().Perm() & 0o111
	return ownerRights | sharedRights(info, enter<<1|enter<<2)
}

// sharedRights are rights without those of a group that a new file would not
// belong to.
func sharedRights(info fs.FileInfo, rights fs.FileMode) fs.FileMode {
	if runtime.GOOS == "windows" {
		return AllRights // a new file has the rights of its folder
	}
	if rights&0o006 == 0 && !ofOwnGroup(info) {
		rights &^= 0o060
	}
	return rights
}

// restrict takes from a file's mode what perm does not have. A file that is not
// there needs none. Windows has no such modes.
func restrict(file confined.Path, perm fs.FileMode) error {
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

// setPerm gives a file or folder a mode.
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
