// Without a file of assembly, the compiler requires a body of contain. Its body is in
// package crashguard.
