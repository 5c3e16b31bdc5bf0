// Without a file of assembly the compiler would demand the body of contain,
// which is in package fault.
