// Package plugin embeds the part of the plugin for Claude Code that "docsearch install"
// writes, too.
package plugin

import _ "embed"

// Module is the hooks module that returns answers as results. Its line "const PROGRAM"
// takes the path of the program.
//
//go:embed hooks/register.ts
var Module string
