package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"botd/runtime/ops"
	"botd/runtime/view"
)

// listLogs serves GET /api/v1/logs: the newest lines first, of a level and the
// severer ones.
func (s *Server) listLogs(w http.ResponseWriter, r *http.Request) {
	query, page, ok := pageOf(w, r, "level", "event", "strategy", "symbol", "market", "text")
	if !ok {
		return
	}
	least := 0
	if level := query.Get("level"); level != "" {
		if least = slices.Index(ops.Levels, level); least < 0 {
			problem(w, r, http.StatusBadRequest, "parameter", fmt.Sprintf("level %q is not one of %s", level, strings.Join(ops.Levels, ", ")))
			return
		}
	}
	event, text := query.Get("event"), strings.ToLower(query.Get("text"))
	var items []ops.LogLine
	var next string
	s.config.Logs.Lines(func(lines []ops.LogLine) {
		items, next = view.Newest(lines, page, func(l *ops.LogLine) int64 { return l.Sequence() }, func(l *ops.LogLine) bool {
			return slices.Index(ops.Levels, l.Level) >= least && (event == "" || event == l.Event || strings.HasSuffix(event, ".") && strings.HasPrefix(l.Event, event)) &&
				chosen(query, l.Strategy, l.Market, l.Symbol) && (text == "" || strings.Contains(strings.ToLower(l.Message), text))
		}, func(l *ops.LogLine) ops.LogLine { return *l })
	})
	writeList(w, r, items, next)
}

// LogLevel is the level below which nothing is written.
type LogLevel struct {
	Schema int      `json:"schema"`
	Level  string   `json:"level"`
	Levels []string `json:"levels"`
}

func (s *Server) logLevel(w http.ResponseWriter, r *http.Request) {
	if noQuery(w, r) {
		answer(w, r, LogLevel{1, s.config.Logs.Level(), ops.Levels})
	}
}

// setLogLevel serves PUT /api/v1/log-level.
func (s *Server) setLogLevel(w http.ResponseWriter, r *http.Request) {
	dry, ok := dryRun(w, r)
	if !ok {
		return
	}
	var asked struct{ Level string }
	err := body(r, &asked)
	if err == nil && !slices.Contains(ops.Levels, asked.Level) {
		err = fmt.Errorf("level %q is not one of %s", asked.Level, strings.Join(ops.Levels, ", "))
	}
	if err != nil {
		problemOfBody(w, r, err)
		return
	}
	was := s.config.Logs.Level()
	if !dry {
		if err := s.config.Logs.SetLevel(asked.Level); err != nil {
			problemOfBody(w, r, err)
			return
		}
	}
	s.do(w, r, audited(r, "log", was+" to "+asked.Level, nil), Change{1, dry, []string{"the log's level goes from " + was + " to " + asked.Level}})
}
