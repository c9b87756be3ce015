package mutation

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// These bound a run.
const (
	memoryKB    = 6 << 20          // address space of a test with a mutant, which may allocate without bound
	slack       = 3 * time.Second  // processor time, in addition to that of its tests without a mutant
	slower      = 4                // multiple of the time without a mutant
	hanging     = 20 * time.Second // wall-clock time, in addition to that of its tests without a mutant: a mutant that waits forever uses no processor time
	firstTests  = 6                // the tests that reach the fewest mutants run first
	outputLimit = 1 << 20
	minBudget   = 40 * time.Second // of a package, if so much is left: its build and the traces of its tests come first
)

// Run measures the packages that patterns name, in the module at root.
func Run(ctx context.Context, root string, patterns []string, options *Options) ([]Score, error) {
	packages, err := load(root, patterns)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		p.find()
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	sample(packages, options)
	packages = slices.DeleteFunc(packages, func(p *source) bool { return len(p.mutants) == 0 })
	all, done := 0, 0
	for _, p := range packages {
		all += len(p.mutants)
	}
	var scores []Score
	left := options.Budget
	for i, p := range packages {
		began := time.Now()
		if p.budget = min(left, max(minBudget, left/time.Duration(len(packages)-i))); options.Budget != 0 && p.budget <= 0 {
			break
		}
		if err := p.run(ctx, options, func() {
			if done++; options.Report != nil {
				options.Report(done, all)
			}
		}); err != nil {
			return scores, fmt.Errorf("%s: %w", p.path, err)
		}
		if options.Budget != 0 {
			left -= p.used
		}
		scores = append(scores, p.sum(time.Since(began)))
	}
	return scores, nil
}

// suite is a test binary with a package's mutants, and the mutants that each test reaches.
type suite struct {
	binary, directory, scratch string
	tests                      []*test
	of                         *source
}

// testedBy lists, for a package, other packages whose tests also test it: it was split off from them, or
// makes sense only within them.
var testedBy = map[string][]string{
	"botd/reconcile/account":   {"botd/reconcile"},
	"botd/reconcile/placement": {"botd/reconcile"},
	"botd/reconcile/record":    {"botd/reconcile/journal"},
	"botd/runtime/api/auth":    {"botd/runtime/api"},
}

// test is one test of a package.
type test struct {
	suite   *suite
	name    string
	took    time.Duration // processor time, which is independent of the machine's other load
	clock   time.Duration
	reached map[int]bool
}

func (p *source) run(ctx context.Context, options *Options, done func()) error {
	scratch, err := os.MkdirTemp("", "botd-mutation-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	overlay, err := p.overlay(scratch)
	if err != nil {
		return err
	}
	var tests []*test
	for i, tested := range append([]string{p.path}, slices.Concat(testedBy[p.path], options.Tests)...) {
		s := &suite{scratch: filepath.Join(scratch, strconv.Itoa(i)), of: p}
		s.binary = filepath.Join(s.scratch, "mutated.test")
		if err := s.locate(ctx, p.root, tested); err != nil {
			return err
		}
		if err := s.build(ctx, p.root, tested, overlay); err != nil {
			return err
		}
		if err := s.trace(ctx, options); err != nil {
			return err
		}
		if p.spent() { // without the traces of all its tests it cannot be judged
			p.mutants = nil
			return nil
		}
		tests = append(tests, s.tests...)
	}
	reasons, err := equivalents()
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards done
	err = inParallel(options.Jobs, p.mutants, func(m *Mutant) error {
		if p.spent() {
			return nil
		}
		if err := judge(ctx, tests, m); err != nil {
			return err
		}
		if reason := reasons[m.Name()]; reason != "" && m.Outcome == Survived {
			m.Outcome, m.By = Equivalent, reason
		}
		mu.Lock()
		defer mu.Unlock()
		done()
		return ctx.Err()
	})
	p.mutants = slices.DeleteFunc(p.mutants, func(m *Mutant) bool { return m.Outcome == "" }) // the budget was exhausted
	return err
}

// ran counts the processor time of a command, its children included.
func (p *source) ran(command *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state := command.ProcessState; state != nil {
		p.used += state.UserTime() + state.SystemTime()
	}
}

// spent reports whether the package has used its share of the budget.
func (p *source) spent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.budget != 0 && p.used >= p.budget
}

// overlay writes the package with all mutants, and an overlay for the go command.
func (p *source) overlay(scratch string) (path string, err error) {
	replace := map[string]string{}
	for i, f := range p.files {
		if len(f.edits) == 0 {
			continue
		}
		name := filepath.Join(scratch, fmt.Sprintf("%d_%s", i, filepath.Base(f.name)))
		if err := os.WriteFile(name, f.edited(), 0o600); err != nil {
			return "", err
		}
		replace[f.name] = name
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// locate finds the directory of a package.
func (s *suite) locate(ctx context.Context, root, tested string) error {
	command := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", tested)
	command.Dir = root
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", tested, err)
	}
	s.directory = strings.TrimSpace(string(text))
	return nil
}

// build builds a package's tests with the overlay.
func (s *suite) build(ctx context.Context, root, tested, overlay string) error {
	if err := os.Mkdir(s.scratch, 0o700); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, tested)
	command.Dir = root
	defer s.of.ran(command)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", tested, err, output)
	}
	return nil
}

// trace runs each test on its own without a mutant and records the mutants that it reaches.
func (s *suite) trace(ctx context.Context, options *Options) error {
	longest := cmp.Or(options.Longest, DefaultLongest)
	if _, err := os.Stat(s.binary); errors.Is(err, os.ErrNotExist) {
		return nil // a package without tests
	}
	listed, err := s.command(ctx, longest, "-test.list", ".").Output()
	if err != nil {
		return fmt.Errorf("list its tests: %w", err)
	}
	for line := range strings.Lines(string(listed)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz") {
			s.tests = append(s.tests, &test{suite: s, name: name, reached: map[int]bool{}})
		}
	}
	return inParallel(options.Jobs, s.tests, func(t *test) error {
		if s.of.spent() {
			return nil
		}
		whole := ctx
		ctx, cancel := context.WithTimeout(ctx, slower*longest+hanging)
		defer cancel()
		path := filepath.Join(s.scratch, "trace_"+t.name)
		command := s.command(ctx, longest, "-test.run", "^"+t.name+"$")
		command.Env = append(command.Env, "BOTD_MUTATION_TRACE="+path)
		began := time.Now()
		defer s.of.ran(command)
		output, err := command.CombinedOutput()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) || outOfTime(command.ProcessState) {
			return nil // it is too slow to run with each mutant that it reaches: mutants that only it reaches count as not reached
		}
		if err != nil { // a program that it starts may have been killed at the limit
			again := s.command(whole, max(longest, DefaultLongest), "-test.run", "^"+t.name+"$")
			defer s.of.ran(again)
			if longest < DefaultLongest && again.Run() == nil {
				return nil // it is too slow, too
			}
			return fmt.Errorf("%s fails without a mutant: %w\n%s", t.name, err, output)
		}
		t.took, t.clock = command.ProcessState.UserTime()+command.ProcessState.SystemTime(), time.Since(began)
		file, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil // it reaches no mutant
		}
		if err != nil {
			return err
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				t.reached[n] = true
			}
		}
		return nil
	})
}

// command runs the test binary, in a process group of its own with bounded memory and processor time.
func (s *suite) command(ctx context.Context, limit time.Duration, arguments ...string) *exec.Cmd {
	limited := fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$0" "$@"`, memoryKB, int(math.Ceil(limit.Seconds())))
	given := slices.Concat([]string{"-c", limited, s.binary, "-test.paniconexit0", "-test.failfast"}, arguments)
	command := exec.CommandContext(ctx, "sh", given...)
	command.Dir, command.Env = s.directory, append(os.Environ(), "RAPID_NOFAILFILE=true") // a mutant's failure is not a failure of the package
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	return command
}

// outOfTime reports whether a process was killed: at its limit of processor time.
func outOfTime(state *os.ProcessState) bool {
	if state == nil {
		return false
	}
	status, is := state.Sys().(syscall.WaitStatus)
	return is && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// judge runs the tests that reach a mutant, beginning with those that reach few others.
func judge(ctx context.Context, tests []*test, m *Mutant) error {
	var reaching []*test
	for _, t := range tests {
		if t.reached[m.Number] {
			reaching = append(reaching, t)
		}
	}
	if m.Outcome = Unreached; len(reaching) == 0 {
		return nil
	}
	slices.SortStableFunc(reaching, func(a, b *test) int { return cmp.Compare(len(a.reached), len(b.reached)) })
	m.Outcome = Survived
	first := min(firstTests, len(reaching))
	for _, some := range [][]*test{reaching[:first], reaching[first:]} {
		for len(some) > 0 && m.Outcome == Survived {
			s := some[0].suite
			if err := s.attempt(ctx, m, some); err != nil {
				return err
			}
			some = slices.DeleteFunc(slices.Clone(some), func(t *test) bool { return t.suite == s })
		}
	}
	return ctx.Err()
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)|^panic: (.*)|^fatal error: (.*)`)

// attempt runs the tests that belong to the suite.
func (s *suite) attempt(parent context.Context, m *Mutant, tests []*test) error {
	var names []string
	limit, hung := slack, hanging
	for _, t := range tests {
		if t.suite != s {
			continue
		}
		names, limit, hung = append(names, t.name), limit+slower*t.took, hung+slower*t.clock
	}
	ctx, cancel := context.WithTimeout(parent, hung)
	defer cancel()
	command := s.command(ctx, limit, "-test.run", "^("+strings.Join(names, "|")+")$")
	command.Env = append(command.Env, "BOTD_MUTATION="+strconv.Itoa(m.Number))
	output := &bounded{}
	command.Stdout, command.Stderr = output, output
	err := command.Run()
	s.of.ran(command)
	var ended *exec.ExitError
	switch {
	case parent.Err() != nil:
		return parent.Err()
	case ctx.Err() != nil || outOfTime(command.ProcessState):
		m.Outcome = TimedOut
	case err == nil:
	case errors.As(err, &ended):
		m.Outcome = Killed
		if found := failed.FindSubmatch(output.Bytes()); found != nil {
			m.By = string(bytes.Join(found[1:], nil))
		}
	default:
		return err
	}
	return nil
}

// bounded saves the beginning of an output.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(text []byte) (int, error) {
	if room := outputLimit - b.Len(); room > 0 {
		b.Buffer.Write(text[:min(room, len(text))])
	}
	return len(text), nil
}

// inParallel calls do for all elements, and returns the first error.
func inParallel[T any](jobs int, all []T, do func(T) error) error {
	next, failures := make(chan T), make(chan error, max(jobs, 1))
	for range max(jobs, 1) {
		go func() {
			var failure error
			for one := range next {
				if failure == nil {
					failure = do(one)
				}
			}
			failures <- failure
		}()
	}
	for _, one := range all {
		next <- one
	}
	close(next)
	var failure error
	for range max(jobs, 1) {
		failure = cmp.Or(failure, <-failures)
	}
	return failure
}
