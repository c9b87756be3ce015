package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// TestTheExitCodeOfAnError compares the codes with docs/cli.md: those of sysexits.h, and 128 plus the number
// of a signal.
func TestTheExitCodeOfAnError(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want int
	}{
		{Wrap(Data, cause), 65}, {fmt.Errorf("around: %w", Wrap(Credentials, cause)), 77}, {New(Config, "", "x"), 78}, {Usagef("x"), 64}, {Quiet(), 1},
		{Wrap(Unavailable, fs.ErrNotExist), 69}, {Wrap(Temporary, cause), 75},
		{fs.ErrNotExist, 66}, {&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, 66},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, 74}, {&os.LinkError{Op: "rename", Err: syscall.EXDEV}, 74}, {fs.ErrPermission, 74},
		{syscall.ENOSPC, 74}, {syscall.EROFS, 74},
		{errors.New(`unknown command "x"`), 64}, {errors.New("accepts 1 arg(s)"), 64}, {errors.New("requires at least 1 arg"), 64},
		{errors.New(`required flag(s) "x"`), 64}, {errors.New("an unknown command"), 70}, {cause, 70},
		{&Signal{syscall.SIGTERM}, 143}, {fmt.Errorf("run: %w", &Signal{syscall.SIGINT}), 130}, {&Signal{other{}}, 130},
	} {
		if have := CodeOf(c.err); have != c.want {
			t.Errorf("%v: want %d, have %d", c.err, c.want, have)
		}
	}
	if OK != 0 || Negative != 1 || Usage != 64 || Data != 65 || NoInput != 66 || Unavailable != 69 || Internal != 70 || IO != 74 || Temporary != 75 ||
		Credentials != 77 || Config != 78 {
		t.Error("want the codes of sysexits.h")
	}
}

// other is a signal of a system that has no numbers.
type other struct{}

func (other) String() string { return "interrupt" }
func (other) Signal()        {}

// TestTheTextOfAnError covers an error with a hint, which is on its own line, and one without.
func TestTheTextOfAnError(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	for _, c := range []struct {
		err  error
		want string
	}{
		{New(Data, "look again", "read %s: %w", "x", cause), "read x: cause\nhint: look again"}, {New(Data, "", "read %s: %w", "x", cause), "read x: cause"},
		{Usagef("--at %q", "x"), `--at "x"`}, {Wrap(IO, cause), "cause"}, {Quiet(), ""}, {&Signal{syscall.SIGTERM}, "received terminated"},
	} {
		if have := c.err.Error(); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
	if !errors.Is(New(Data, "hint", "x: %w", cause), cause) || !errors.Is(Wrap(IO, cause), cause) || Wrap(IO, nil) != nil {
		t.Error("want the cause found, and no error of none")
	}
	if s, is := SignalOf(fmt.Errorf("run: %w", &Signal{syscall.SIGTERM})); !is || s != syscall.SIGTERM {
		t.Errorf("want the signal, have %v", s)
	}
	if s, is := SignalOf(cause); is || s != nil {
		t.Errorf("want no signal, have %v", s)
	}
}
