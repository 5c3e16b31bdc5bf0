//go:build ignore

// Command generator writes tables.
package main

func Exported() {}
