package daemon

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/engine"
	"botd/runtime/notify"
	"botd/runtime/notify/channels"
	"botd/runtime/ops"
)

// startNotices sends log lines as notifications until stop is called; stop sends the remaining
// ones, within seconds.
func (p *process) startNotices() (stop func(), err error) {
	open, err := channels.Routes(p.config)
	if err != nil || len(open) == 0 {
		return func() {}, err
	}
	for i := range open {
		for _, result := range notify.Results {
			p.metrics.Notified(open[i].Name, result, 0)
		}
	}
	notifier := notify.New(
		notify.Config{Title: channels.Title(p.config), Every: time.Duration(p.config.Notify.EveryMS) * time.Millisecond, Routes: open,
			Count: p.metrics.Notified, Log: func(event, text string) { p.console.Warn(event, "notify    %s", text) }},
	)
	p.notifier = notifier
	var tally notify.Tally
	p.logs.Offer(func(l ops.LogLine) {
		e := eventOf(&l)
		tally.Count(&e)
		if !strings.HasPrefix(e.Name, incidentEvents) && !strings.HasPrefix(e.Name, tradeEvents) { // those are sent by their own reporters
			notifier.Notify(e)
		}
	})
	digests := &notify.Trades{Notify: p.notifyTrade}
	p.trades.notify = digests.Report
	ctx, cancel := context.WithCancel(context.Background())
	sending, end := context.WithCancel(context.Background())
	var all, sender sync.WaitGroup
	sender.Go(func() { notifier.Run(sending) })
	all.Go(func() { digests.Run(ctx) })
	if p.config.Notify.Daily != configs.Never {
		all.Go(func() {
			notify.Daily(ctx, p.config.Notify.Daily, func() {
				var status engine.Status
				if p.driver.Query(ctx, func() { status = p.machine.Status() }) == nil {
					text := tally.Summary(&status)
					if head := p.newestRecord(ctx); head != nil {
						text += fmt.Sprintf("\njournal: %d records, head %s", head.Records, head.Hash)
					}
					notifier.NotifyAll(notify.Event{At: time.Now(), Name: "daemon.summary", Text: text, Subject: "daily summary"})
				}
			})
		})
	}
	return func() { cancel(); all.Wait(); end(); sender.Wait() }, nil
}

// startHeartbeat requests the address of a dead-man's service while botd works, until stop is called.
func (p *process) startHeartbeat() (stop func(), err error) {
	c := &p.config.Heartbeat
	address, err := configs.ReadHeartbeat(c, p.config.Exchange.CredentialsDirectory)
	if err != nil || address == "" {
		return func() {}, failure.Wrap(failure.Credentials, err)
	}
	for _, result := range []string{notify.Sent, notify.Failed, notify.Withheld} {
		p.metrics.Heartbeat(result, 0)
	}
	p.board.Beat() // the first one, before the loop's first turn
	heartbeat := &notify.Heartbeat{URL: address, Every: time.Duration(cmp.Or(c.EveryMS, defaultBeatMS)) * time.Millisecond,
		Fault: p.fault, Transport: p.network.Transport,
		Count: func(result string) { p.metrics.Heartbeat(result, 1) },
		Log:   func(event, text string) { p.console.Warn(event, "heartbeat %s", text) }}
	return inBackground(context.Background(), heartbeat.Run), nil
}

// unheard bounds the time without a complete round if no channel is configured: then only the dead-man's service notifies a
// person.
const unheard = 5 * time.Minute

// fault returns the reason why the dead-man's service must raise the alarm; empty for none.
func (p *process) fault() string {
	switch {
	case !p.board.Alive():
		return "the engine makes no progress"
	case !p.board.RoundsEnd():
		return "no round has ended for two minutes"
	case p.notifier != nil && p.notifier.Failing():
		return "no channel works"
	case p.notifier == nil && !p.board.RoundsComplete(unheard):
		return "no round has been complete for five minutes, and there is no channel that reports it"
	}
	return ""
}

// defaultBeatMS is the interval of heartbeats unless the configuration sets one.
const defaultBeatMS = 60_000

// The prefixes of the events of incidents, and of entries and exits.
const (
	incidentEvents = "incident."
	tradeEvents    = "trade."
)

// notifyTrade notifies of a trade, or of a digest of them, which is a line of the log too.
func (p *process) notifyTrade(e notify.Event) {
	if e.Name == "trade.digest" {
		p.console.Say("trade.digest", "trade     %s", strings.ReplaceAll(e.Text, "\n", "; "))
	}
	p.notifier.Notify(e)
}

// eventOf converts a line of the log to an event.
func eventOf(l *ops.LogLine) notify.Event {
	e := notify.Event{Name: l.Event, Text: l.Message, Covered: covered[l.Event]}
	e.At, _ = time.Parse(time.RFC3339Nano, l.Time)
	switch l.Level {
	case "warn":
		e.Severity = notify.Warning
	case "error", "fatal", "panic":
		e.Severity = notify.Error
	}
	return e
}
