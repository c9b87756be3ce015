// Package confine starts programs under limits: no secrets, no writable files and no network, as far as the system allows.
//
// Start runs this binary again (Enter), which first limits itself. It then becomes botd's
// process for scripts, or the program. On Linux a program has a keeper: the keeper starts
// the program under limits, and ends all its processes when the program or botd ends. docs/security.md lists the limits that each system supports.
package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Verb is the hidden first argument with which the binary limits itself and becomes a program.
const Verb = "confined"

// These bound a program.
const (
	stderrBytes = 64 << 10        // written to stderr between two requests; more ends the program
	endsWithin  = 3 * time.Second // after its output has ended: a program that lacks memory first writes its stacks
	openFiles   = 256
)

// Program describes the program to start.
type Program struct {
	Path      string   // empty for this binary
	Arguments []string // without the program's name
	Directory string   // working directory
	MemoryMB  int64    // of data; 0 leaves that to the program
	Readable  []string // paths it may read besides the system's programs and libraries
}

// Process is a running program.
type Process struct {
	command *exec.Cmd
	keeper  *keeper // of a program
	stdin   *os.File
	stdout  *os.File
	pace    pace
	written atomic.Int64  // bytes of stderr since the last request
	drained chan struct{} // closed when stderr has ended
	ended   chan struct{} // closed when the process has

	mu     sync.Mutex // guards the rest
	killed string     // why Kill was called first
	output sayings
}

// Start starts a program. Its standard input and output are read and written by the process's
// Read and Write.
func Start(p *Program) (*Process, error) {
	specification, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("describe a program: %w", err)
	}
	self, err := selfPath()
	if err != nil {
		return nil, fmt.Errorf("find the own binary: %w", err)
	}
	var ends [6]*os.File // stdin, stdout and stderr: the end to read, the end to write
	for i := 0; i < len(ends) && err == nil; i += 2 {
		ends[i], ends[i+1], err = os.Pipe()
	}
	if err != nil {
		closeAll(ends[:])
		return nil, err
	}
	command := exec.Command(self, Verb, string(specification))
	command.Args[0], command.Env, command.Dir = "botd", environment(), p.Directory
	command.Stdin, command.Stdout, command.Stderr = ends[0], ends[3], ends[5]
	keeper, err := detach(command, p.Path == "")
	if err != nil {
		closeAll(ends[:])
		return nil, err
	}
	err = command.Start()
	keeper.attached()
	if err != nil {
		closeAll(ends[:])
		keeper.close()
		return nil, err
	}
	closeAll([]*os.File{ends[0], ends[3], ends[5]})
	process := &Process{command: command, keeper: keeper, stdin: ends[1], stdout: ends[2], drained: make(chan struct{}), ended: make(chan struct{})}
	go process.drain(ends[4])
	go func() {
		keeper.follow()
		wait(command)
		keeper.close()
		close(process.ended)
	}()
	if p.Path != "" { // botd's own process for scripts starts nothing
		go process.watch(p.MemoryMB)
	}
	return process, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// environment returns the part of botd's environment that a program receives: it contains no secret.
func environment() []string {
	all := []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1", "GOMAXPROCS=1", "TZ=UTC"}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL"} {
		if value, set := os.LookupEnv(name); set {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// ID is the system's number of the process.
func (p *Process) ID() int { return p.command.Process.Pid }

// Write sends a part of a request, and grants the processor time for its response.
func (p *Process) Write(text []byte) (int, error) {
	p.written.Store(0)
	p.allow()
	return p.stdin.Write(text)
}

// Read reads part of a response.
func (p *Process) Read(into []byte) (int, error) { return p.stdout.Read(into) }

// Kill ends the program and its descendants. The first cause is recorded.
func (p *Process) Kill(cause string) {
	p.mu.Lock()
	if p.killed == "" {
		p.killed = cause
	}
	p.mu.Unlock()
	select {
	case <-p.ended:
	default:
		killGroup(p.command)
	}
	p.stdin.Close()
	p.stdout.Close()
}

// Cause waits until the program has ended and returns the cause.
func (p *Process) Cause() string {
	late := time.NewTimer(endsWithin)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		p.Kill("it closed its output and went on")
		<-p.ended
	}
	select {
	case <-p.drained:
	case <-late.C: // a descendant still holds stderr
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	how := p.keeper.how()
	if how == "" {
		how = p.command.ProcessState.String()
	}
	how = "its process ended: " + how
	if output := p.output.text(); output != "" {
		how += ": " + output
	}
	if p.killed != "" {
		return p.killed
	}
	return how
}

// drain reads the program's stderr. Output beyond the bound ends the program.
func (p *Process) drain(stderr *os.File) {
	defer close(p.drained)
	defer stderr.Close()
	buffer := make([]byte, 4<<10)
	for {
		n, err := stderr.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.output.add(buffer[:n])
		p.mu.Unlock()
		if p.written.Add(int64(n)) > stderrBytes {
			p.Kill(fmt.Sprintf("it wrote more than %d KiB to stderr for one answer", stderrBytes>>10))
			return
		}
	}
}

// sayings selects the line of stderr that explains the end of a program: the first fatal one, otherwise the
// last one.
type sayings struct{ fatal, last, line string }

const maxLine = 300

func (s *sayings) add(text []byte) {
	for _, part := range strings.SplitAfter(string(text), "\n") {
		if s.line += part; len(s.line) > maxLine {
			s.line = s.line[:maxLine]
		}
		if !strings.HasSuffix(part, "\n") {
			continue
		}
		line := strings.TrimSpace(s.line)
		if s.line = ""; line == "" {
			continue
		}
		s.last = line
		if s.fatal == "" && (strings.HasPrefix(line, "fatal error:") || strings.HasPrefix(line, "panic:")) {
			s.fatal = line
		}
	}
}

func (s *sayings) text() string {
	if s.fatal != "" {
		return s.fatal
	}
	if line := strings.TrimSpace(s.line); line != "" {
		return line
	}
	return s.last
}

// Enter limits this process by the specification in its arguments and becomes the program. It
// returns only an error.
func Enter(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("%s is botd's own: it has one argument", Verb)
	}
	var p Program
	if err := json.Unmarshal([]byte(arguments[0]), &p); err != nil {
		return fmt.Errorf("read the program's description: %w", err)
	}
	own := p.Path == ""
	if own {
		path, err := selfPath()
		if err != nil {
			return err
		}
		p.Path = path
	} else {
		path, err := exec.LookPath(p.Path)
		if err != nil {
			return err
		}
		if p.Path, err = filepath.Abs(path); err != nil {
			return err
		}
		p.Readable = append(p.Readable, programFolders(p.Path)...)
		if p.Directory != "" {
			p.Readable = append(p.Readable, ".")
		}
	}
	return become(&p, own)
}

// programFolders returns the folders of a program: its own and, if that is a bin folder, the parent folder, such
// as a virtual environment. It follows links.
func programFolders(path string) (folders []string) {
	add := func(path string) {
		folder := filepath.Dir(path)
		if slices.Contains([]string{"bin", "shims"}, filepath.Base(folder)) {
			folder = filepath.Dir(folder)
		}
		if folder != string(filepath.Separator) {
			folders = append(folders, folder)
		}
	}
	for range 8 { // links
		add(path)
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return folders
}
