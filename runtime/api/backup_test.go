package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// keeper makes backups as a test defines, and reports channels.
type keeper struct {
	wrong error         // error of a plan
	fails error         // error of a backup
	gate  chan struct{} // a backup, or a test, waits for it
	begun chan struct{}

	mu       sync.Mutex // guards reported
	reported []string
}

func (k *keeper) Plan() ([]string, error) { return []string{"copy the journal"}, k.wrong }

func (k *keeper) wait() {
	if k.gate != nil {
		k.begun <- struct{}{}
		<-k.gate
	}
}

func (k *keeper) Make(context.Context) (Backup, error) {
	k.wait()
	return Backup{At: time.UnixMilli(1).UTC(), File: "a.db", Bytes: 1, SHA256: "00", Records: 3, Hash: "11"}, k.fails
}

func (k *keeper) Names() []string { return []string{"phone", "desk"} }

func (k *keeper) Test(_ context.Context, names []string) (all []ChannelResult) {
	k.wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		one := ChannelResult{Channel: name, Result: "sent", TookMS: 5}
		if name == "desk" {
			one.Result, one.Reason = "failed", "no answer"
		}
		k.reported, all = append(k.reported, name), append(all, one)
	}
	return all
}

func keeperDesk(t *testing.T, k *keeper) *desk {
	return newDeskWith(t, func(c *Config) { c.Backups, c.Channels = k, k })
}

func TestABackupIsMadeOnceAtATimeAndAudited(t *testing.T) {
	t.Parallel()
	k := &keeper{gate: make(chan struct{}), begun: make(chan struct{})}
	d := keeperDesk(t, k)
	if code, out, text := post[BackupAnswer](d, "/api/v1/backup?dry_run=true", ""); code != 200 || !out.DryRun || out.Backup != nil ||
		!slices.Equal(out.Effects, []string{"copy the journal"}) || len(d.sent) != 0 {
		t.Errorf("a trial: want what it would do and nothing done, have %d %s", code, text)
	}
	first := make(chan BackupAnswer)
	go func() {
		_, out, _ := post[BackupAnswer](d, "/api/v1/backup", "")
		first <- out
	}()
	<-k.begun
	if code, _, text := post[BackupAnswer](d, "/api/v1/backup", ""); code != 409 || !strings.Contains(text, "another backup is running") {
		t.Errorf("a second at the same time: want 409, have %d %s", code, text)
	}
	close(k.gate)
	if out := <-first; out.Backup == nil || out.Backup.File != "a.db" || out.Backup.Records != 3 {
		t.Errorf("want the backup, have %+v", out)
	}
	if len(d.sent) != 1 || d.sent[0].Event != nil || d.sent[0].Audit.Object != "journal" {
		t.Errorf("want it audited once, have %+v", d.sent)
	}
}

func TestBackupErrors(t *testing.T) {
	t.Parallel()
	if code, _, text := post[BackupAnswer](newDesk(t), "/api/v1/backup", ""); code != 409 || !strings.Contains(text, "no journal") {
		t.Errorf("no journal: want 409, have %d %s", code, text)
	}
	if code, _, text := post[BackupAnswer](keeperDesk(t, &keeper{wrong: errors.New("the disk is full")}), "/api/v1/backup?dry_run=true", ""); code != 409 ||
		!strings.Contains(text, "disk is full") {
		t.Errorf("no room: want 409, have %d %s", code, text)
	}
	if code, _, text := post[BackupAnswer](keeperDesk(t, &keeper{fails: errors.New("not sound")}), "/api/v1/backup", ""); code != 503 || !strings.Contains(text,
		"no backup was made: not sound") {
		t.Errorf("a copy that is damaged: want 503, have %d %s", code, text)
	}
}

func TestEveryChannelOrOneIsTested(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	d := keeperDesk(t, k)
	code, out, text := post[ChannelAnswer](d, "/api/v1/notifications/test?dry_run=true", "")
	if code != 200 || len(out.Items) != 2 || out.Items[0].Result != "not_sent" || len(k.reported) != 0 || len(d.sent) != 0 {
		t.Errorf("a trial: want both named and none reported, have %d %s", code, text)
	}
	_, out, text = post[ChannelAnswer](d, "/api/v1/notifications/test", "")
	if len(out.Items) != 2 || out.Items[0].Result != "sent" || out.Items[1].Reason != "no answer" || len(d.sent) != 1 {
		t.Errorf("want one sent and one failed, audited; have %s %+v", text, d.sent)
	}
	post[ChannelAnswer](d, "/api/v1/notifications/test", `{"channel":"phone"}`)
	if want := []string{"phone", "desk", "phone"}; !slices.Equal(want, k.reported) {
		t.Errorf("reported: want %v, have %v", want, k.reported)
	}
	if code, _, text = post[ChannelAnswer](d, "/api/v1/notifications/test", `{"channel":"nobody"}`); code != 409 || !strings.Contains(text, "phone, desk") {
		t.Errorf("an unknown channel: want 409 with those there are, have %d %s", code, text)
	}
	if code, _, text = post[ChannelAnswer](newDesk(t), "/api/v1/notifications/test", ""); code != 409 || !strings.Contains(text, "nobody is notified") {
		t.Errorf("no channels: want 409, have %d %s", code, text)
	}
}

// resters is a desk with opening orders of two strategies, and a stop.
func resters(t *testing.T) *desk {
	d := newDesk(t)
	entry := &d.status.Live[1]
	*entry = enginetest.Placement(record.Record{AtMS: 7_000, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: "bx-1-2",
		Body: record.Sending{Purpose: placement.Order, Order: entry.Order()}}, placement.Uncertain, 0)
	d.status.Live = append(d.status.Live, enginetest.Placement(record.Record{Strategy: "hold", Symbol: ether.Key(), ClientOrderID: "bx-1-3",
		Body: record.Sending{Purpose: placement.Entry, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Buy,
			Type: exchange.Limit, Quantity: 5}}}, placement.Working, 0))
	d.action = engine.ManualAction{Level: record.LevelPause, Lines: []string{"is halted"}, Steps: closingSteps()[:1]}
	return d
}

func TestOpeningOrdersAreCanceledByFilter(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`"strategy":"trend"`:                    {"bx-1-2"},
		`"market":"spot"`:                       {"bx-1-3"},
		`"symbol":"BTC-USDT"`:                   {"bx-1-2"},
		`"symbol":"ETH-USDT","market":"spot"`:   {"bx-1-3"},
		`"strategy":"hold","symbol":"ETH-USDT"`: {"bx-1-3"},
		`"dry_run":false`:                       {"bx-1-2", "bx-1-3"},
	} {
		d := resters(t)
		code, out, text := post[HaltAnswer](d, "/api/v1/orders/cancel?dry_run=true", "{"+body+"}")
		if code != 200 || !out.DryRun || len(out.Steps) != len(want) || !slices.Equal(out.Effects, []string{"is halted"}) || len(d.sent) != 0 {
			t.Errorf("%s as a trial: want %d steps, what comes of it once, and nothing sent; have %d %s", body, len(want), code, text)
		}
		code, _, text = post[HaltAnswer](d, "/api/v1/orders/cancel", "{"+body+`,"reason":"news"}`)
		var have []string
		for _, e := range d.sent {
			if w, is := e.Event.(*engine.EventWithdraw); is && w.Reason == "news" && e.Audit.Object == "order "+w.ClientOrderID {
				have = append(have, w.ClientOrderID)
			}
		}
		if code != 202 || !slices.Equal(want, have) {
			t.Errorf("%s: want %v withdrawn, each with its audit; have %d %s %v", body, want, code, text, have)
		}
	}
}

func TestCancelWithoutMatchIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		code int
		part string
	}{
		{`{"strategy":"tremd","reason":"news"}`, 404, "no strategy matches"},
		{`{"strategy":"hold","market":"futures","reason":"news"}`, 404, "no strategy matches"},
		{`{"strategy":"trend"}`, 400, "reason"},
		{`{"order":"x","reason":"news"}`, 400, "order"},
	} {
		d := resters(t)
		if code, _, text := post[HaltAnswer](d, "/api/v1/orders/cancel", c.body); code != c.code || !strings.Contains(text, c.part) || len(d.sent) != 0 {
			t.Errorf("%s: want %d with %q and nothing sent, have %d %s", c.body, c.code, c.part, code, text)
		}
	}
	d := resters(t)
	d.refuses = errors.New("it is being canceled already")
	if code, _, text := post[HaltAnswer](d, "/api/v1/orders/cancel", `{"reason":"news"}`); code != 409 || !strings.Contains(text, "no working order") ||
		len(d.sent) != 0 {
		t.Errorf("none left: want 409, have %d %s", code, text)
	}
	if code, out, _ := post[HaltAnswer](d, "/api/v1/orders/cancel", `{"dry_run":true}`); code != 200 || !slices.Contains(out.Effects,
		"it is being canceled already") {
		t.Errorf("a trial: want why each is left, have %d %+v", code, out)
	}
}
