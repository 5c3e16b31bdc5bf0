package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

// graceTime is how long a command may run after the first signal, to clean up
// and to answer calls in flight. It is needed because not all code that reads
// or computes checks its context often.
const graceTime = 700 * time.Millisecond

// serverGrace replaces graceTime for a server with clients on other machines, whose calls
// in flight may take longer; 0: not set.
var serverGrace atomic.Int64

// watchSignals returns a context that is canceled by the first SIGINT or
// SIGTERM. If the command is still running after the grace time or at a second
// signal, the process exits. This is safe because docsearch writes files
// atomically. exitCode converts the exit code of a command: if a signal made it
// fail, the result is 128 plus the signal number, as in shells. A server or
// watcher that stops on a signal succeeds.
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
		case <-time.After(max(graceTime, time.Duration(serverGrace.Load()))):
			fmt.Fprintf(os.Stderr, "docsearch: %v\n", terminal.ErrInterrupted)
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

// signalCode returns the exit code for a program that a signal ended.
func signalCode(s os.Signal) int32 {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int32(n)
	}
	return exitFailure
}
