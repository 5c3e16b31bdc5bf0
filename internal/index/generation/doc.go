// Package generation replaces a database's derived files atomically: each build
// writes a new generation, and the manifest names the current one. The package
// defines the contents of the manifest, and not those of the other files. Standard
// library only, because the hook reads indexes through it.
//
// # Folder
//
//	<database>/docsearch/
//	  manifest.json        names the current generation; the only file that is replaced
//	  build.lock           held by the running build, which writes its name; else empty
//	  g000007/...          a generation: files that are written once and never changed
//
// A build writes the next generation next to the current one, syncs its files and
// its folder, and renames a new manifest.json over the old one. Only then does it
// remove the previous generation. Whenever a build dies, manifest.json names a
// complete generation; the next build removes the unfinished one.
//
// The first line of manifest.json contains the CRC-32 of the rest of the file, so
// that a changed threshold or path is damage and not another answer. A checksum
// says nothing about the author of the file: anyone can compute one.
//
// # Trust
//
// The path to <database> belongs to the user, and may lead through symbolic links.
// The contents of the folder may be a stranger's: an index that was cloned, unpacked
// or copied. Every file below <database> is therefore opened, created, renamed and
// removed through os.Root (see package confined), on every system. A link that leads
// out of the folder is damage if it replaces a file; if it is in the way of one, it
// is removed and not followed. docsearch itself makes no links.
package generation
