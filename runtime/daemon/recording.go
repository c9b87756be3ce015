package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/internal/disk"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
	"botd/strategy"
)

// decisionsFolder is the directory of the strategies' decisions in a mode's directory.
const decisionsFolder = "decisions"

// keepDecisions makes the board store decisions beyond this run.
func (p *process) keepDecisions() *view.DecisionStore {
	store := view.NewDecisionStore(view.DecisionStoreConfig{
		Directory: filepath.Join(p.directory, decisionsFolder), Keep: time.Duration(p.config.Retention.DecisionsMS) * time.Millisecond,
		Room: func() error {
			if free, known := disk.Free(p.directory); known && free < disk.MinFree {
				return errors.New("the disk is nearly full: its last free space is reserved for the journal")
			}
			return nil
		},
		Failed: func(err error) {
			if err == nil {
				p.console.Say("decisions.back", "decisions are stored again")
				return
			}
			p.console.Warn("decisions.failed", "decisions are not stored for the dashboard: %v; trading is not affected", err)
		},
	})
	p.board.Keep(store)
	return store
}

// recording stores closed candles and rates of funding, so that a day can be run again. Its
// recorder is nil if recording is off.
type recording struct{ recorder *tape.Recorder }

func startRecording(config *configs.Config, directory string, metrics *ops.Metrics, console *ops.Console) recording {
	if config.Retention.RecordedMiB == 0 {
		return recording{}
	}
	recorder := tape.NewRecorder(tape.RecorderConfig{
		Store: tape.Store{Directory: filepath.Join(directory, tape.RecordedFolder)}, MaxBytes: int64(config.Retention.RecordedMiB) << 20,
		Free: disk.Free, MinFreeBytes: disk.MinFree, Count: metrics.Recorded,
		Notify: func(err error) {
			if err == nil {
				console.Say("recorder.back", "recorder  polled data are recorded again")
				return
			}
			console.Warn("recorder.failed", "recorder  polled data are not recorded for backtests: %v; trading is not affected", err)
		},
	})
	metrics.WatchSize("recorded", recorder.Bytes)
	return recording{recorder}
}

// note stores polled candles, and reports whether the note was about candles: no other part handles
// those.
func (r recording) note(n *engine.Note) bool {
	candles, is := n.Fact.(engine.NoteCandles)
	if !is {
		return false
	}
	if r.recorder != nil {
		r.recorder.Candles(n.Symbol, candles.Candles)
	}
	return true
}

// signal stores a signal that a strategy has taken.
func (r recording) signal(atMS int64, name string, s *strategy.Signal) {
	if r.recorder != nil {
		r.recorder.Signal(tape.SignalRow{TimeMS: atMS, Strategy: name, Side: s.Side, Share: s.Share.Float()})
	}
}

// before stores candles, and passes the other notes on.
func (r recording) before(rest func(*engine.Note)) func(*engine.Note) {
	return func(n *engine.Note) {
		if !r.note(n) {
			rest(n)
		}
	}
}

func (r recording) close() {
	if r.recorder != nil {
		r.recorder.Close()
	}
}

// rates is the source of a venue's next funding payment.
type rates interface {
	FundingRate(ctx context.Context, symbol string) (exchange.FundingRate, error)
	ServerNowMS() int64
}

// Bounds of requests for funding rates: shortly before each payment, when the rate is almost
// settled; normally two requests a symbol and payment.
const (
	fundingBegin  = time.Minute // after the start, which has more urgent requests
	fundingBefore = 3 * time.Minute
	fundingAgain  = 30 * time.Second       // after an invalid answer
	fundingApart  = 200 * time.Millisecond // between two requests: never a burst alongside trading
)

// keepFunding stores the rate of each payment of the symbols until the context ends. The set of
// symbols may change.
func (r recording) keepFunding(ctx context.Context, venue rates, traded func() []string) {
	if r.recorder == nil {
		return
	}
	due := map[string]time.Time{} // none yet is due at once
	for wait := fundingBegin; sleep(ctx, wait); {
		next := ""
		wait = fundingBegin
		for _, symbol := range traded() {
			if next == "" || due[symbol].Before(due[next]) {
				next = symbol
			}
		}
		if next == "" {
			continue
		}
		if left := time.Until(due[next]); left > 0 {
			wait = min(left, fundingBegin)
			continue
		}
		due[next], wait = time.Now().Add(r.keepRate(ctx, venue, next)), fundingApart
	}
}

// keepRate requests a symbol's rate, stores it when its payment is near, and returns the time until
// the next request.
func (r recording) keepRate(ctx context.Context, venue rates, symbol string) time.Duration {
	rate, err := venue.FundingRate(ctx, symbol)
	if err != nil || rate.NextMS <= 0 {
		return fundingAgain
	}
	left := time.Duration(rate.NextMS-venue.ServerNowMS()) * time.Millisecond
	if left > fundingBefore {
		return left - fundingBefore
	}
	r.recorder.Funding(tape.FundingRow{Symbol: symbol, TimeMS: rate.NextMS, Rate: rate.Rate})
	return max(0, left) + fundingBefore // the next payment's is reported then
}

// sleep waits, and reports whether the context is still active.
func sleep(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}
