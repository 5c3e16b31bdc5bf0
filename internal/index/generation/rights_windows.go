package generation

import "io/fs"

func ofOwnGroup(fs.FileInfo) bool { return true }
