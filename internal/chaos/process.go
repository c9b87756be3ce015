package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/shopspring/decimal"

	"botd/internal/chaos/crash"
)

// exitUnavailable is the exit code of botd after which a supervisor restarts it.
const exitUnavailable = 69

// maxLines bounds the log lines kept of a process.
const maxLines = 40

// process is a child whose log is read line by line.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the process has ended and its log is read

	mu    sync.Mutex // guards lines
	lines []string   // the last lines
}

// passedOn are the environment variables that a child inherits: those for Go's memory and processors.
var passedOn = []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"}

// startProcess starts botd with an environment of its own: no credentials, no proxies.
func startProcess(binary, directory string, env []string, log io.Writer, line func(string), arguments ...string) (*process, error) {
	command := exec.Command(binary, arguments...)
	command.Args[0] = "botd"
	command.Dir = directory
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + directory, "TMPDIR=" + os.TempDir(), "NO_COLOR=1"}, env...)
	for _, name := range passedOn {
		if value, set := os.LookupEnv(name); set {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	pipe, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}
	p := &process{command: command, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		scanner := bufio.NewScanner(pipe)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			fmt.Fprintln(log, scanner.Text())
			p.keep(scanner.Text())
			line(scanner.Text())
		}
		_ = command.Wait() // how it ended is in ProcessState
	}()
	return p, nil
}

func (p *process) keep(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lines) == maxLines {
		p.lines = p.lines[1:]
	}
	p.lines = append(p.lines, line)
}

func (p *process) lastLines() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines[max(0, len(p.lines)-3):], " | ")
}

// kill ends the process as a power failure would, and waits for its end.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it may have ended already
	<-p.ended
}

// freeze suspends the process, and thaw resumes it.
func (p *process) freeze() error { return p.command.Process.Signal(syscall.SIGSTOP) }
func (p *process) thaw() error   { return p.command.Process.Signal(syscall.SIGCONT) }

// code returns the exit code after the end; -1 after a signal.
func (p *process) code() int { return p.command.ProcessState.ExitCode() }

func (p *process) killed() bool { return p.code() == -1 }

// daemon is a botd process that trades.
type daemon struct {
	*process
	directory string // directory of its configuration, data and logs
	started   time.Time
	listening chan struct{} // closed when its API answers

	mu      sync.Mutex // guards all below
	address string
	safe    time.Duration // from exec to its first complete round; 0 before that
	log     *os.File
}

var apiAddress = regexp.MustCompile(`http://([0-9.:]+)/metrics`)

func startDaemon(binary, directory, point string) (*daemon, error) {
	log, err := os.OpenFile(filepath.Join(directory, "daemon.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	d := &daemon{directory: directory, started: time.Now(), listening: make(chan struct{}), log: log}
	var env []string
	if point != "" {
		env = []string{crash.Variable + "=" + point}
	}
	d.process, err = startProcess(binary, directory, env, log, d.read, "run", "-c", "configs", "--mode", "live", "--listen", "127.0.0.1:0",
		"--log-format", "json")
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return d, nil
}

// read parses a line of the daemon's log.
func (d *daemon) read(text string) {
	var line struct{ Event, Msg string }
	if json.Unmarshal([]byte(text), &line) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch line.Event {
	case "daemon.listening":
		if found := apiAddress.FindStringSubmatch(line.Msg); found != nil && d.address == "" {
			d.address = found[1]
			close(d.listening)
		}
	case "daemon.reconciled":
		if d.safe == 0 {
			d.safe = time.Since(d.started)
		}
	}
}

// safeAfter returns the time from the start until orders and positions were read.
func (d *daemon) safeAfter() (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.safe, d.safe != 0
}

// status is the part of /api/v1/status that a trial reads.
type status struct {
	Ready      bool `json:"ready"`
	Unsettled  int  `json:"unsettled"`
	Degraded   []struct{ State, Cause, Market, Symbol string }
	Strategies []strategyStatus
}

type strategyStatus struct {
	Name     string
	Position decimal.Decimal // signed
	Settled  bool
}

// get sends a GET request to the daemon's API as a viewer.
func (d *daemon) get(ctx context.Context, path string, read func(io.Reader) error) error {
	d.mu.Lock()
	address := d.address
	d.mu.Unlock()
	token, err := os.ReadFile(filepath.Join(d.directory, "data", "live", "token-viewer"))
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the daemon answers %s with %s", path, response.Status)
	}
	return read(response.Body)
}

func (d *daemon) status(ctx context.Context) (*status, error) {
	var s status
	return &s, d.get(ctx, "/api/v1/status", func(body io.Reader) error { return json.NewDecoder(body).Decode(&s) })
}

// settled reports whether the daemon's positions are the targets and no declared state
// blocks it.
func (d *daemon) settled(ctx context.Context, targets []Target) bool {
	s, err := d.status(ctx)
	return err == nil && s.knows(targets)
}

func (s *status) knows(targets []Target) bool {
	if s.Unsettled > 0 || len(s.Degraded) > 0 {
		return false
	}
	for i := range targets {
		w := &targets[i]
		if !slices.ContainsFunc(s.Strategies, func(t strategyStatus) bool {
			return t.Name == w.Name && t.Settled && (w.Market == "spot" || t.Position.Equal(w.signed()))
		}) {
			return false
		}
	}
	return true
}

// why returns the daemon's status as text, for a failure.
func (d *daemon) why(ctx context.Context) string {
	s, err := d.status(ctx)
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// stop interrupts the daemon as a person would, and returns its exit code.
func (d *daemon) stop() (int, error) {
	if err := d.command.Process.Signal(os.Interrupt); err != nil {
		return 0, fmt.Errorf("stop the daemon: %w", err)
	}
	select {
	case <-d.ended:
		return d.code(), nil
	case <-time.After(exitWithin):
		d.kill()
		return 0, fmt.Errorf("the daemon did not stop within %s: %s", exitWithin, d.lastLines())
	}
}

// kill ends the daemon as a power failure would.
func (d *daemon) kill() {
	d.process.kill()
	d.log.Close()
}
