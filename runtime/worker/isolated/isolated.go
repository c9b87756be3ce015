// Package isolated runs strategies in their own processes: scripts, rules, and programs in any language.
// The process that trades never runs a script, not even to find its parameters: a script that loops or
// exhausts memory affects only its own process.
package isolated

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"botd/internal/confine"
	"botd/strategy"
	"botd/strategy/process"
	"botd/strategy/script"
)

// Verb is the hidden first argument of the process that runs a script.
const Verb = "strategy-process"

// Bounds of a strategy's process.
const (
	defaultMemoryMB = 256
	described       = 1_000 // strategies that are remembered
)

// Processes makes strategies in processes of their own. It remembers their descriptions, so that
// the same file is not queried twice. Its zero value is ready.
type Processes struct {
	mu           sync.Mutex // guards the rest
	descriptions map[[sha256.Size]byte]process.Description
}

// Script returns the definition of a script. A short-lived process reads its parameters.
func (p *Processes) Script(text *strategy.Source) (strategy.Definition, error) {
	hello := process.NewHello("script", nil, nil)
	hello.Script, hello.MemoryMB = text, defaultMemoryMB
	parameters, err := process.Parameters(own(process.StartsWithin), hello)
	if err != nil {
		return strategy.Definition{}, err
	}
	return strategy.Definition{Name: "script", Summary: "decided by " + text.File, Parameters: parameters, New: p.maker(text)}, nil
}

// Rules returns the definition of strategies by rules.
func (p *Processes) Rules() strategy.Definition {
	definition := script.Rules()
	definition.New = p.maker(&strategy.Source{})
	return definition
}

func (p *Processes) maker(text *strategy.Source) func(strategy.Setting, strategy.Values) (strategy.Strategy, error) {
	return func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
		hello := process.NewHello("script", &setting, values)
		hello.Script, hello.MemoryMB = text, setting.MemoryMB
		if hello.MemoryMB == 0 {
			hello.MemoryMB = defaultMemoryMB
		}
		return p.remote(hello, &setting, own(process.StartsWithin), own(0))
	}
}

// Programs defines programs in a registry, as far as possible without a command.
func Programs() strategy.Definition {
	return strategy.Definition{Name: "process", Summary: "runs a program in any language: strategy: process, command: [python3, my_strategy.py]",
		New: func(strategy.Setting, strategy.Values) (strategy.Strategy, error) {
			return nil, errors.New("a process needs its command: key, and botd's own binary to start it")
		}}
}

// Program returns the definition of a program. The program itself describes its parameters, when it is
// queried without a symbol.
func Program(command []string, directory string) (strategy.Definition, error) {
	program := confine.Program{Path: command[0], Arguments: command[1:], Directory: directory, MemoryMB: defaultMemoryMB}
	parameters, err := process.Parameters(started(&program, process.StartsWithin), process.NewHello("process", nil, nil))
	if err != nil {
		return strategy.Definition{}, err
	}
	asked := &Processes{} // for this reading of the configuration: at the next one the program may have changed
	return strategy.Definition{Name: "process", Summary: "decided by " + strings.Join(command, " "), Parameters: parameters,
		New: func(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
			sized := program
			if setting.MemoryMB > 0 {
				sized.MemoryMB = setting.MemoryMB
			}
			return asked.remote(process.NewHello("process", &setting, values), &setting, started(&sized, process.StartsWithin), started(&sized, 0))
		}}, nil
}

// remote returns the strategy of a hello. Unless they are already known, the short-lived program first declares
// the strategy's needs; later calls use the program then.
func (p *Processes) remote(hello *process.Hello, setting *strategy.Setting, first, then process.Program) (strategy.Strategy, error) {
	text, err := json.Marshal(hello)
	if err != nil {
		return nil, fmt.Errorf("describe the strategy: %w", err)
	}
	key := sha256.Sum256(text)
	p.mu.Lock()
	description, known := p.descriptions[key]
	p.mu.Unlock()
	if !known {
		made, err := process.NewRemote(first, hello, setting)
		if err != nil {
			return nil, err
		}
		description = made.Description()
		p.mu.Lock()
		if len(p.descriptions) >= described || p.descriptions == nil {
			p.descriptions = map[[sha256.Size]byte]process.Description{}
		}
		p.descriptions[key] = description
		p.mu.Unlock()
	}
	return process.Described(then, hello, setting, description), nil
}

// own returns the program that runs scripts: this binary. Its process is killed after the given time; 0 for never.
func own(within time.Duration) process.Program {
	return started(&confine.Program{Arguments: []string{Verb}}, within)
}

func started(program *confine.Program, within time.Duration) process.Program {
	return process.Program{Start: func() (process.Connection, error) {
		running, err := confine.Start(program)
		if err != nil {
			return nil, err
		}
		if within > 0 {
			time.AfterFunc(within, func() { running.Kill(fmt.Sprintf("it has not loaded within %s", within)) })
		}
		return running, nil
	}}
}

// Serve runs the process of a script: it limits its memory and answers questions on standard input
// until the input ends.
func Serve() error {
	return process.Serve(os.Stdin, os.Stdout, load)
}

func load(h *process.Hello) (strategy.Strategy, []strategy.Parameter, error) {
	if h.MemoryMB > 0 {
		debug.SetMemoryLimit(h.MemoryMB << 20 * 7 / 8)
		if err := confine.LimitMemory(h.MemoryMB); err != nil {
			return nil, nil, fmt.Errorf("limit the memory: %w", err)
		}
	}
	definition := script.Rules()
	if h.Script == nil {
		return nil, nil, io.ErrUnexpectedEOF
	}
	if h.Script.File != "" {
		compiled, err := script.Compile(h.Script.File, h.Script.Text, h.Script.Libraries...)
		if err != nil {
			return nil, nil, err
		}
		definition = compiled.Definition()
	}
	if h.Symbol == nil {
		return nil, definition.Parameters, nil
	}
	setting, err := h.Setting()
	if err != nil {
		return nil, nil, err
	}
	made, err := definition.New(*setting, h.Params)
	return made, definition.Parameters, err
}
