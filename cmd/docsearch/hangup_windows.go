package main

import "os"

// hangup is the signal that reloads a server; nil on systems without it.
var hangup os.Signal
