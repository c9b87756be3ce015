package api

import (
	"fmt"
	"slices"
	"strings"

	"botd/runtime/api/auth"
	"botd/runtime/ops"
	"botd/runtime/view"
)

var logRoutes = []route{
	{id: "logs", tag: "log", method: "GET", path: "/api/v1/logs", minimum: auth.Viewer, endpoint: list(of(maintenanceOf, (*maintenance).logs)),
		summary: "Searches the newest 4,000 log lines, which the daemon holds in memory; newest first.",
		takes: []parameter{{name: "level", text: "This level and more severe ones.", values: ops.Levels}, {name: "event",
			text: "This event; if it ends in a dot, all that begin with it."},
			{name: "text", text: "Lines whose message contains this, ignoring case."}, ofStrategy, ofMarket, ofSymbol}},
	{id: "log_level", tag: "log", method: "GET", path: "/api/v1/log-level", minimum: auth.Viewer, endpoint: read(of(maintenanceOf, (*maintenance).logLevel)),
		summary: "The level below which nothing is written."},
	{id: "set_log_level", tag: "log", method: "PUT", path: "/api/v1/log-level", minimum: auth.Operator,
		endpoint: change(by(maintenanceOf, (*maintenance).setLogLevel)),
		summary:  "Changes the level while botd runs."},
}

func (m *maintenance) logs(r *request) (items []ops.LogLine, next string) {
	minimum := slices.Index(ops.Levels, r.query.Get("level")) // -1 for all
	event, text := r.query.Get("event"), strings.ToLower(r.query.Get("text"))
	m.config.Logs.Lines(func(lines []ops.LogLine) {
		items, next = view.Newest(lines, r.page, func(l *ops.LogLine) int64 { return l.Sequence() }, func(l *ops.LogLine) bool {
			return slices.Index(ops.Levels, l.Level) >= minimum && (r.is("event", l.Event) || strings.HasSuffix(event, ".") && strings.HasPrefix(l.Event,
				event)) &&
				r.isOf(l.Strategy, l.Market, l.Symbol) && strings.Contains(strings.ToLower(l.Message), text)
		}, func(l *ops.LogLine) ops.LogLine { return *l })
	})
	return items, next
}

// LogLevel is the level below which nothing is written.
type LogLevel struct {
	Schema int      `json:"schema"`
	Level  string   `json:"level"`  // debug | info | warn | error
	Levels []string `json:"levels"` // debug | info | warn | error
}

func (m *maintenance) logLevel(*request) (LogLevel, error) {
	return LogLevel{1, m.config.Logs.Level(), ops.Levels}, nil
}

// LevelRequest is the level to write from.
type LevelRequest struct {
	Level string `json:"level"` // debug | info | warn | error
}

func (m *maintenance) setLogLevel(r *request, body *LevelRequest) (Change, error) {
	if !slices.Contains(ops.Levels, body.Level) {
		return Change{}, badBody(fmt.Sprintf("level %q is not one of %s", body.Level, strings.Join(ops.Levels, ", ")))
	}
	was := m.config.Logs.Level()
	if !r.dryRun {
		if err := m.config.Logs.SetLevel(body.Level); err != nil {
			return Change{}, badBody(err.Error())
		}
	}
	return m.controls.do(r, r.audited("log", was+" to "+body.Level, nil), "the log's level changes from "+was+" to "+body.Level)
}
