package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Exit statuses of every command.
const (
	exitDone        = 0
	exitFailed      = 1 // a finding at or above --fail-on
	exitUnreadable  = 2 // bad usage, unreadable or damaged input
	exitNothingSaid = 3 // readable, but nothing can be said
)

// gcPercent lets the heap grow more than usual between collections: the
// process is short-lived and holds little.
const gcPercent = 400

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdin, os.Stdout, os.Stderr, os.Getenv, os.Args[1:])
	stop()
	os.Exit(status(os.Stderr, err))
}

// statusError is an error with an exit status other than that of bad usage.
type statusError struct {
	status int
	msg    string
}

func (e *statusError) Error() string { return e.msg }

// run is the whole program: it writes results to stdout, all else to stderr.
// stdin is the path "-".
func run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, env func(string) string, args []string) error {
	root := newRoot(&app{stdin: stdin, stdout: stdout, stderr: stderr, env: env})
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// status prints an error as one line and returns its exit status.
func status(stderr io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	message := err.Error()
	if errors.Is(err, context.Canceled) {
		message = "interrupted"
	}
	fmt.Fprintf(stderr, "rocanalyze: %s\n", oneLine(message))
	var s *statusError
	var nothing view.Nothing
	switch {
	case errors.As(err, &s):
		return s.status
	case errors.As(err, &nothing):
		return exitNothingSaid
	}
	return exitUnreadable
}
