package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/internal/paint"
	"botd/runtime/api"
	"botd/runtime/api/client"
	"botd/runtime/ops"
)

// These bound how the log is followed.
const (
	logsEvery = time.Second
	logsPage  = 1_000 // lines per request
)

type logsFlags struct {
	connect.Flags
	level, event, strategy, symbol, market, contains string
	since, until, mode                               string
	limit                                            int
	follow                                           bool
}

// NewLogs returns the command botd logs.
func NewLogs() *cobra.Command {
	var flags logsFlags
	command := &cobra.Command{
		Use: "logs", Short: "the newest lines of the running daemon's log; -f follows", Args: cobra.NoArgs,
		Long: `Searches the newest 4,000 log lines, which the running daemon holds in memory; oldest first.
-f follows new lines until Ctrl-C. --since reads the log's files on disk (retention.logs_mib),
which survive restarts, whether botd runs or not. docs/logs.md explains the events.`,
		Example: "  botd logs\n  botd logs -f --level warn\n  botd logs --since 03:10 --until 03:20\n" +
			"  botd logs --event order. --strategy trend -o jsonl | jq .client_order_id",
		RunE: func(command *cobra.Command, _ []string) error { return flags.run(command) },
	}
	f := command.Flags()
	f.StringVar(&flags.level, "level", "", "minimum level: "+strings.Join(ops.Levels, ", "))
	f.StringVar(&flags.event, "event", "", "only this event; a trailing dot matches a prefix, as in order.")
	f.StringVar(&flags.strategy, "strategy", "", "only this strategy")
	f.StringVar(&flags.symbol, "symbol", "", "only this symbol")
	f.StringVar(&flags.market, "market", "", "only this market: futures or spot")
	f.StringVar(&flags.contains, "text", "", "lines whose message contains this")
	f.StringVar(&flags.since, "since", "", "start time; reads the files: 03:12 (UTC, of the last day), 2026-11-23T03:12, or 12h (ago)")
	f.StringVar(&flags.until, "until", "", "with --since: end time, in the format of --since")
	f.StringVar(&flags.mode, "mode", "", "with --since: demo, paper or live (default: as configured)")
	f.IntVarP(&flags.limit, "lines", "n", 50, "maximum number of lines (1 to 1000)")
	f.BoolVarP(&flags.follow, "follow", "f", false, "follow new lines")
	flags.Add(command)
	shell.CompleteWith(command, "level", ops.Levels...)
	shell.CompleteWith(command, "event", eventIDs()...)
	return command
}

func eventIDs() (ids []string) {
	for _, e := range ops.Events {
		ids = append(ids, e.ID+"\t"+e.Means)
	}
	return ids
}

func (f *logsFlags) query(limit int) string {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	for _, part := range []struct{ name, value string }{{"level", f.level}, {"event", f.event}, {"strategy", f.strategy}, {"symbol", f.symbol},
		{"market", f.market}, {"text", f.contains}} {
		if part.value != "" {
			query.Set(part.name, part.value)
		}
	}
	return "/api/v1/logs?" + query.Encode()
}

func (f *logsFlags) run(command *cobra.Command) error {
	if f.limit < 1 || f.limit > logsPage {
		return failure.Usagef("--lines %d: from 1 to %d", f.limit, logsPage)
	}
	if f.level != "" && !slices.Contains(ops.Levels, f.level) {
		return failure.Usagef("--level %q: want one of %s", f.level, strings.Join(ops.Levels, ", "))
	}
	if _, err := exchange.ParseMarket(f.market); f.market != "" && err != nil {
		return failure.Usagef("--market: %v", err)
	}
	form, _, _ := strings.Cut(shell.Output(command), "=")
	if f.follow && form != "table" && form != "jsonl" {
		return failure.Usagef("-f never ends: use -o table or jsonl")
	}
	if f.since != "" || f.until != "" {
		return f.stored(command)
	}
	d, err := f.Daemon(command.Context())
	if err != nil {
		return err
	}
	last, err := f.show(command, d, f.limit, 0)
	if err != nil || !f.follow {
		return err
	}
	ticker := time.NewTicker(logsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-command.Context().Done():
			if s, ok := failure.SignalOf(context.Cause(command.Context())); ok {
				return failure.Wrap(failure.SignalCode(s), failure.ErrQuiet)
			}
			return nil
		}
		if last, err = f.show(command, d, logsPage, last); err != nil {
			return err
		}
	}
}

// stored prints lines of the files on disk.
func (f *logsFlags) stored(command *cobra.Command) error {
	if f.since == "" || f.follow {
		return failure.Usagef("--until requires --since, and neither can be combined with -f")
	}
	now := time.Now()
	since, err := moment.ParsePast("--since", f.since, now)
	until := now.Add(time.Hour).UnixMilli()
	if err == nil && f.until != "" {
		until, err = moment.ParsePast("--until", f.until, now)
	}
	if err != nil {
		return err
	}
	config, err := connect.LoadSettings(command.Context(), f.Directory, configs.Mode(f.mode), "-c DIR names it")
	if err != nil {
		return err
	}
	var lines []ops.LogLine
	strategy, symbol := f.strategy, f.symbol // neither has been named by a line yet
	err = ops.ReadLogs(filepath.Join(config.DataDir, string(config.Mode)), func(path string) (io.ReadCloser, error) { return os.Open(path) },
		func(l *ops.LogLine) {
			if l.Strategy == strategy {
				strategy = ""
			}
			if l.Symbol == symbol {
				symbol = ""
			}
			at, err := time.Parse(time.RFC3339Nano, l.Time)
			if err == nil && at.UnixMilli() >= since && at.UnixMilli() <= until && len(lines) < maxStored && f.chooses(l) {
				lines = append(lines, *l)
			}
		})
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	strategies, symbols := connect.Configured(config)
	if err := connect.RefuseNames(strategy, symbol, strategies, symbols); err != nil {
		return err
	}
	return shell.Print(command, shell.List(lines), func(w io.Writer) {
		for i := range lines {
			logText(w, &lines[i], shell.Colors(command, w), time.Time{}) // with dates
		}
	})
}

// maxStored bounds what --since shows.
const maxStored = 100_000

// chooses reports whether the flags select a line.
func (f *logsFlags) chooses(l *ops.LogLine) bool {
	return slices.Index(ops.Levels, l.Level) >= slices.Index(ops.Levels, f.level) &&
		(f.event == "" || l.Event == f.event || strings.HasSuffix(f.event, ".") && strings.HasPrefix(l.Event, f.event)) &&
		(f.strategy == "" || l.Strategy == f.strategy) && (f.symbol == "" || l.Symbol == f.symbol) && (f.market == "" || l.Market == f.market) &&
		strings.Contains(strings.ToLower(l.Message), strings.ToLower(f.contains))
}

// show prints the lines after the given number, oldest first, and returns the last line's number.
func (f *logsFlags) show(command *cobra.Command, d *client.Daemon, limit int, after int64) (last int64, err error) {
	got, page, err := client.Ask[client.Page[ops.LogLine]](command.Context(), d, http.MethodGet, f.query(limit), nil)
	if err == nil {
		err = connect.Refuse(command.Context(), d, f.query(limit), page)
	}
	if err != nil {
		return after, err
	}
	slices.Reverse(got.Items)
	last = after
	fresh := got.Items[:0]
	for _, line := range got.Items {
		if number, err := strconv.ParseInt(line.ID, 10, 64); err == nil && number > after {
			last, fresh = number, append(fresh, line)
		}
	}
	return last, shell.Print(command, shell.List(fresh), func(w io.Writer) {
		for i := range fresh {
			logText(w, &fresh[i], shell.Colors(command, w), time.Now())
		}
	})
}

// logText writes a line as the daemon's own terminal does. A line from a day other than now's carries its date.
func logText(w io.Writer, l *ops.LogLine, colored bool, now time.Time) {
	when := l.Time // with its zone
	if at, err := time.Parse(time.RFC3339Nano, l.Time); err == nil {
		when = at.UTC().Format(time.TimeOnly)
		if at.UTC().Format(time.DateOnly) != now.UTC().Format(time.DateOnly) {
			when = at.UTC().Format(time.DateTime)
		}
	}
	level := map[string]string{"debug": "DBG", "info": "INF", "warn": "WRN", "error": "ERR"}[l.Level]
	if colored {
		color := map[string]text.Color{"debug": text.FgHiBlack, "info": text.FgGreen, "warn": text.FgYellow, "error": text.FgRed}[l.Level]
		level = paint.Own(color.Sprint(level))
	}
	line := when + " " + level + " " + l.Message
	for _, name := range slices.Sorted(maps.Keys(l.Fields)) {
		if name != "order_id" && name != "rule" {
			value, err := json.Marshal(l.Fields[name])
			if err != nil {
				continue // the record arrived as JSON
			}
			line += " " + name + "=" + string(value)
		}
	}
	fmt.Fprintln(w, line)
}

// NewLogLevel returns the command botd log-level.
func NewLogLevel() *cobra.Command {
	var flags connect.Flags
	var dry bool
	command := &cobra.Command{
		Use: "log-level [debug|info|warn|error]", Short: "show or set the level of the daemon's log",
		Args: cobra.MaximumNArgs(1), ValidArgs: ops.Levels,
		Long:    "Shows the level of the running daemon's log, or changes it until the daemon exits. SIGUSR1\ntoggles debug.",
		Example: "  botd log-level\n  botd log-level debug",
		RunE: func(command *cobra.Command, levels []string) error {
			if len(levels) == 1 && !slices.Contains(ops.Levels, levels[0]) {
				return failure.Usagef("%q is not a level: %s", levels[0], strings.Join(ops.Levels, ", "))
			}
			if dry && len(levels) == 0 {
				return failure.Usagef("%s --dry-run needs a level", command.CommandPath())
			} else if dry {
				return flags.Send(command, http.MethodPut, "/api/v1/log-level?dry_run=true", map[string]string{"level": levels[0]})
			}
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			if len(levels) == 1 {
				if _, err := d.Call(command.Context(), http.MethodPut, "/api/v1/log-level", map[string]string{"level": levels[0]}); err != nil {
					return err
				}
			}
			now, raw, err := client.Ask[api.LogLevel](command.Context(), d, http.MethodGet, "/api/v1/log-level", nil)
			if err != nil {
				return err
			}
			return shell.Print(command, raw, func(w io.Writer) { fmt.Fprintln(w, now.Level) })
		},
	}
	flags.Add(command)
	shell.DryRunFlag(command, &dry, "show what would change, and change nothing")
	return command
}
