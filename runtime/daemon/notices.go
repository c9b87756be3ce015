package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"botd/configs"
	"botd/runtime/engine"
	"botd/runtime/notify"
	"botd/runtime/notify/channels"
	"botd/runtime/ops"
)

// startNotices sends log lines as notifications until stop is called; stop sends
// what is left, within seconds.
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
		tally.Take(&e)
		if !strings.HasPrefix(e.Name, incidentEvents) { // those are sent with the incident's own severity
			notifier.Notify(e)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { notifier.Run(ctx) })
	if p.config.Notify.Daily != configs.Never {
		all.Go(func() {
			notify.Daily(ctx, p.config.Notify.Daily, func() {
				var status engine.Status
				if p.driver.Query(ctx, func() { status = p.machine.Status() }) == nil {
					text := tally.Summary(&status)
					if head := p.newestRecord(ctx); head != nil {
						text += fmt.Sprintf("\njournal: %d records, head %s", head.Records, head.Hash)
					}
					notifier.NotifyAll(notify.Event{At: time.Now(), Name: "daemon.summary", Text: text})
				}
			})
		})
	}
	return func() { cancel(); all.Wait() }, nil
}

// incidentEvents begins the names of what becomes of an incident.
const incidentEvents = "incident."

// eventOf is a line of the log as an event.
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
