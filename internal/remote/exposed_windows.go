package remote

import "io/fs"

// exposed reports whether other users can access a file with these permissions. On Windows
// the permissions are not in the mode: a file in the user's profile is the user's.
func exposed(fs.FileMode) bool { return false }
