package ops

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"
)

// maxLogLines limits the number of lines held for the API; older ones are on disk.
const maxLogLines = 4_000

// LogLine is one line of the log, as the API shows it.
type LogLine struct {
	ID            string         `json:"id"`
	Time          string         `json:"time"`
	Level         string         `json:"level"` // debug | info | warn | error
	Event         string         `json:"event"`
	Message       string         `json:"msg"`
	Strategy      string         `json:"strategy,omitempty"`
	Market        string         `json:"market,omitempty"`
	Symbol        string         `json:"symbol,omitempty"`
	ClientOrderID string         `json:"client_order_id,omitempty"`
	Fields        map[string]any `json:"fields,omitempty"` // all others

	sequence int64
}

// Sequence returns the line's number.
func (l *LogLine) Sequence() int64 { return l.sequence }

// Logs stores the newest lines, and the minimum level of written lines. It is safe for several
// goroutines.
type Logs struct {
	level atomic.Int32

	mu     sync.Mutex // guards all below
	lines  []LogLine  // oldest first
	last   int64
	follow func(LogLine)
	offer  func(LogLine)
	keep   io.Writer // nil for none
}

// NewLogs returns an empty log at level info.
func NewLogs() *Logs {
	l := &Logs{}
	l.level.Store(int32(zerolog.InfoLevel))
	return l
}

// Levels lists the levels to which a log can be set.
var Levels = levels

// Level returns the level in force.
func (l *Logs) Level() string { return zerolog.Level(l.level.Load()).String() }

// SetLevel changes the level.
func (l *Logs) SetLevel(name string) error {
	if !slices.Contains(levels, name) {
		return fmt.Errorf("level %q is unknown (known: %s)", name, strings.Join(levels, ", "))
	}
	level, err := zerolog.ParseLevel(name)
	if err == nil {
		l.level.Store(int32(level))
	}
	return err
}

// Write takes one line of JSON.
func (l *Logs) Write(text []byte) (int, error) {
	line, err := readLine(text)
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keep != nil {
		_, _ = l.keep.Write(text) // the writer reports its own failures
	}
	l.last++
	line.sequence, line.ID = l.last, fmt.Sprint(l.last)
	if len(l.lines) >= maxLogLines {
		l.lines = slices.Delete(l.lines, 0, maxLogLines/10)
	}
	l.lines = append(l.lines, line)
	if l.follow != nil {
		l.follow(line)
	}
	return len(text), nil
}

func readLine(text []byte) (LogLine, error) {
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return LogLine{}, fmt.Errorf("log line: %w", err)
	}
	line := LogLine{
		Time:          takeText(fields, "time"),
		Level:         takeText(fields, "level"),
		Event:         takeText(fields, "event"),
		Message:       takeText(fields, "msg"),
		Strategy:      takeText(fields, "strategy"),
		Market:        takeText(fields, "market"),
		Symbol:        takeText(fields, "symbol"),
		ClientOrderID: takeText(fields, "client_order_id"),
	}
	if len(fields) > 0 { // thousands of lines are held, and the map of all fields still has room for the removed ones
		line.Fields = make(map[string]any, len(fields))
		maps.Copy(line.Fields, fields)
	}
	return line, nil
}

func takeText(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	delete(fields, name)
	return text
}

// Follow passes every line to take from now on.
func (l *Logs) Follow(receive func(LogLine)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow = receive
}

// Store writes every line to w too from now on; nil ends that. w must not wait.
func (l *Logs) Store(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep = w
}

// Offer passes every line from level info on to take from now on, at any log level: notifications
// do not depend on the lines that are written.
func (l *Logs) Offer(receive func(LogLine)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offer = receive
}

// offers passes lines to the function set by Offer.
type offers struct{ logs *Logs }

func (o offers) Write(text []byte) (int, error) { return len(text), nil }

func (o offers) WriteLevel(level zerolog.Level, text []byte) (int, error) {
	o.logs.mu.Lock()
	receive := o.logs.offer
	o.logs.mu.Unlock()
	if receive == nil || level < zerolog.InfoLevel {
		return len(text), nil
	}
	line, err := readLine(text)
	if err == nil {
		receive(line)
	}
	return len(text), err
}

// Lines passes the stored lines to read, oldest first. It must not retain the slice.
func (l *Logs) Lines(read func([]LogLine)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	read(l.lines)
}

// passes is a writer that writes only lines of the level in force.
type passes struct {
	zerolog.LevelWriter
	logs *Logs
}

func (p passes) WriteLevel(level zerolog.Level, text []byte) (int, error) {
	if level < zerolog.Level(p.logs.level.Load()) {
		return len(text), nil
	}
	return p.LevelWriter.WriteLevel(level, text)
}
