// Package generation replaces a database's derived files atomically: each build
// writes a new generation, and the manifest identifies the current one. The package
// defines only the format of the manifest. Standard library only, because the hook
// reads indexes through it.
//
// # Folder
//
//	<database>/docsearch/
//	  manifest.json        identifies the current generation; the only file that is replaced
//	  build.lock           held by the running build, which writes its process ID; otherwise empty
//	  g000007/...          a generation: files are written once and never changed
//
// A build writes the next generation next to the current one, syncs its files and
// its folder, and renames a new manifest.json over the old one. Only then does it
// remove the previous generation. If a build is killed, manifest.json still
// identifies a complete generation; the next build removes the unfinished one.
//
// The first line of manifest.json contains the CRC-32 of the rest of the file, so
// that a changed threshold or path is detected as damage. A checksum does not
// authenticate the author of the file: anyone can compute one.
//
// # Trust
//
// The path to <database> is trusted and may contain symbolic links. The contents of the
// folder may be untrusted: an index that was cloned, unpacked or copied. Every file below
// <database> is therefore opened, created, renamed and removed through os.Root (see
// package confined), on every system. A link that leads out of the folder in place of a
// file is damage. A link in place of a file to be written is removed and not followed.
// docsearch itself creates no links.
package generation
