package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// graceTime is how long a command may take to end by itself after the first
// signal: to remove what it has begun, to answer calls in flight. Not all code
// that reads or computes looks at its context that often.
const graceTime = 700 * time.Millisecond

// watchSignals returns a context that ends with the first SIGINT or SIGTERM.
// A command that has not ended by itself after the grace time, or when a second
// signal comes, is ended: what docsearch writes is whole or not there at any
// time. exitCode returns the exit code of a command that returned code: 128 and
// the signal's number if a signal kept it from its work, as in shells. A server
// or a watch that stops when it is told to has done its work.
func watchSignals() (ctx context.Context, exitCode func(int) int) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var got atomic.Int32
	go func() {
		s := <-signals
		got.Store(signalCode(s))
		cancel()
		select {
		case s = <-signals:
		case <-time.After(graceTime):
			fmt.Fprintf(os.Stderr, "docsearch: %v\n", errInterrupted)
		}
		os.Exit(int(signalCode(s)))
	}()
	return ctx, func(code int) int {
		if interrupted := got.Load(); interrupted != 0 && code != exitOK {
			return int(interrupted)
		}
		return code
	}
}

// signalCode is the exit code of a program that a signal has ended.
func signalCode(s os.Signal) int32 {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int32(n)
	}
	return exitFailure
}
