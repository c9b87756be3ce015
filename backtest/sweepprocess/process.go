package sweepprocess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Limits of a process.
const (
	tailBytes  = 8 << 10 // of its stderr, for the last error
	endsWithin = 5 * time.Second
)

// perform runs this binary with a command's arguments until it exits. Trading continues meanwhile. Canceling the
// context ends the process.
func perform(ctx context.Context, arguments []string) error {
	self, err := selfPath()
	if err != nil {
		return err
	}
	output := &tail{}
	command := exec.CommandContext(ctx, self, arguments...)
	command.Args[0], command.Env, command.Stderr = "botd", environment(), output
	command.SysProcAttr = attributes()
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = endsWithin
	ended := make(chan error, 1)
	go func() {
		err := lowest(command)
		if err == nil {
			err = command.Wait()
			_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // and its children
		}
		ended <- err
	}()
	if err = <-ended; err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return output.failure(err)
}

// environment returns the environment of a process. It contains no secret.
func environment() []string {
	all := []string{"TZ=UTC", "GOMAXPROCS=" + strconv.Itoa(max(1, goruntime.GOMAXPROCS(0)/2)), fmt.Sprintf("GOMEMLIMIT=%dMiB", MemoryMB*3/4)}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "BOTD_CACHE"} {
		if value, set := os.LookupEnv(name); set {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// tail stores the last lines that a process wrote.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(text), nil
}

// failure explains why a process failed, by its last error if it wrote one.
func (t *tail) failure(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text)
	if strings.Contains(text, "cannot allocate memory") || strings.Contains(text, "out of memory") {
		return fmt.Errorf("it needs more than %d MB: use fewer candles, or botd sweep run on the command line", MemoryMB)
	}
	var last string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "hint:") {
			last = line
		}
	}
	var exit *exec.ExitError
	if last == "" || errors.As(err, &exit) && !exit.Exited() { // ended by a signal
		return fmt.Errorf("its process ended: %w", err)
	}
	return errors.New(last)
}
