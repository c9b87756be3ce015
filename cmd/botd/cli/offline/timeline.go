package offline

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/moment"
	"botd/internal/printable"
	"botd/reconcile/journal"
	"botd/runtime/timeline"
	"botd/runtime/timeline/files"
	"botd/runtime/view"
)

// around is the time shown before and after --at.
const around = 5 * time.Minute

type timelineFlags struct {
	journal                    journalFlags
	at, since, until, strategy string
	all, audit                 bool
}

// NewTimeline returns the command botd timeline.
func NewTimeline() *cobra.Command {
	var f timelineFlags
	command := &cobra.Command{
		Use: "timeline", Short: "chronological view of journal, log and incidents", Args: cobra.NoArgs,
		Long: `Shows the account's events from its files, whether botd runs or not: the log on disk, the
journal with user actions, and the incidents, in chronological order (UTC). --at shows five
minutes before and after a time; without a time, it shows the last hour.`,
		Example: "  botd timeline --at 03:12\n  botd timeline --since 2026-11-22T22:00 --until 2026-11-23T07:00 --strategy trend\n" +
			"  botd timeline --since 12h -o json",
		RunE: func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	f.journal.add(command)
	flags := command.Flags()
	flags.StringVar(&f.at, "at", "", "around this time: 03:12 (UTC, of the last day), 2026-11-23T03:12, or 10m (ago)")
	flags.StringVar(&f.since, "since", "", "start time, in the format of --at")
	flags.StringVar(&f.until, "until", "", "end time, in the format of --at")
	flags.StringVar(&f.strategy, "strategy", "", "one strategy, with events that concern the whole account")
	flags.BoolVar(&f.all, "all", false, "routine lines too: candles, derived intents, approvals, acknowledgments")
	command.MarkFlagsMutuallyExclusive("at", "since")
	shell.OutputFlag(command)
	return command
}

// NewAudit returns the command botd audit.
func NewAudit() *cobra.Command {
	f := timelineFlags{audit: true}
	command := &cobra.Command{
		Use: "audit", Short: "audit log: user, change, time and origin", Args: cobra.NoArgs,
		Long: `Lists what people requested (halts, limits, cancels, reloads, transfers), from the journal,
whether botd runs or not, oldest first. --since takes 12h or a time.`,
		Example: "  botd audit\n  botd audit --since 24h -o json",
		RunE:    func(command *cobra.Command, _ []string) error { return f.run(command) },
	}
	f.journal.add(command)
	command.Flags().StringVar(&f.since, "since", "", "start time: 03:12 (UTC, of the last day), 2026-11-23T03:12, or 12h (ago)")
	command.Flags().StringVar(&f.until, "until", "", "end time, in the format of --since")
	shell.OutputFlag(command)
	return command
}

// window reads the bounds.
func (f *timelineFlags) window(now time.Time) (since, until time.Time, err error) {
	parse := func(flag, text string, otherwise time.Time) time.Time {
		if text == "" || err != nil {
			return otherwise
		}
		var ms int64
		ms, err = moment.ParsePast(flag, text, now)
		return time.UnixMilli(ms)
	}
	if f.at != "" {
		at := parse("--at", f.at, now)
		return at.Add(-around), at.Add(around), err
	}
	start := now.Add(-time.Hour)
	if f.audit {
		start = time.UnixMilli(0)
	}
	return parse("--since", f.since, start), parse("--until", f.until, now.Add(around)), err
}

func (f *timelineFlags) run(command *cobra.Command) error {
	since, until, err := f.window(time.Now())
	if err != nil {
		return err
	}
	if until.Before(since) {
		return failure.Usagef("--until %s is before --since %s", f.until, since.UTC().Format(time.DateTime))
	}
	story := &timeline.Story{Since: since, Until: until, Strategy: f.strategy, All: f.all}
	if err := f.collect(command.Context(), story); err != nil {
		return err
	}
	events := view.OrEmpty(story.Events())
	answer := map[string]any{"schema": 1, "since": since.UTC(), "until": until.UTC(), "items": events, "left": story.Left}
	return shell.Print(command, answer,
		func(w io.Writer) {
			for i := range events {
				e := &events[i]
				fmt.Fprintf(w, "%s UTC  %-8s  %s\n", e.At.Format("2006-01-02 15:04:05.000"), e.Source, printable.Lines(textOf(e)))
			}
			if story.Left > 0 {
				fmt.Fprintf(w, "and %d more: choose a shorter period\n", story.Left)
			}
			if len(events) == 0 {
				fmt.Fprintf(w, "nothing between %s and %s UTC\n", since.UTC().Format(time.DateTime), until.UTC().Format(time.DateTime))
			}
		})
}

// textOf formats an event as a line: the message of a line of the log, or the kind of a journal record.
func textOf(e *timeline.Event) string {
	text := e.Text
	if e.Source != "log" {
		text = fmt.Sprintf("%-9s %s", e.Event, text)
	}
	var of []string
	if e.Strategy != "" && !strings.Contains(text, e.Strategy) {
		of = append(of, e.Strategy)
	}
	if e.Symbol != "" && !strings.Contains(text, e.Symbol) {
		of = append(of, strings.TrimSpace(e.Market+" "+e.Symbol))
	}
	if len(of) > 0 {
		text += " (" + strings.Join(of, ", ") + ")"
	}
	if e.Again > 0 {
		text += fmt.Sprintf(" (%d more until %s)", e.Again, e.Until.Format(time.TimeOnly))
	}
	return text
}

// collect adds the files of a data directory to a timeline.
func (f *timelineFlags) collect(ctx context.Context, story *timeline.Story) error {
	path, key, err := f.journal.find(ctx)
	if err != nil {
		return err
	}
	if !f.audit {
		if err := files.Read(filepath.Dir(path), story); err != nil {
			return err
		}
	}
	store, err := journal.ReadKeyed(ctx, path, key)
	if err != nil {
		return journal.Failure(err)
	}
	defer store.Close()
	if err := f.journal.refuse(ctx, store, f.strategy, ""); err != nil {
		return err
	}
	return files.ReadJournal(ctx, store, f.audit, story)
}
