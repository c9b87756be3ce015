package tape

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"botd/exchange"
)

// Source returns candles with open times from fromMS to toMS, toMS excluded, at most a page of
// them.
type Source interface {
	Candles(ctx context.Context, interval exchange.Interval, fromMS, toMS int64) (*exchange.Candles, error)
}

// Download fetches the candles that a store's series lacks, in pages.
type Download struct {
	Store    Store
	Symbol   *exchange.Symbol
	Interval exchange.Interval
	FromMS   int64
	ToMS     int64 // candles must have closed by then
	Page     int   // candles a page
	Replace  bool
	Progress func(done, total int) // candles
}

// saveEvery is the number of candles held in memory before they are saved.
const saveEvery = 60_000

// Run fetches the missing parts. It saves fetched candles even if it ends early, so that the next
// run continues there.
func (d Download) Run(ctx context.Context, source Source) (Saved, error) {
	gaps, have, err := d.missing()
	if err != nil {
		return Saved{}, err
	}
	total := 0
	for _, g := range gaps {
		total += int((g.toMS - g.fromMS) / int64(d.Interval))
	}
	sum := Saved{Path: d.Store.Path(d.Symbol.Market, d.Symbol.Name, d.Interval), Total: have}
	fetched, done := &exchange.Candles{Interval: d.Interval}, 0
	flush := func() error {
		if fetched.Len() == 0 {
			return nil
		}
		saved, err := d.Store.Save(d.Symbol, fetched, d.Replace)
		sum = Saved{saved.Path, sum.Added + saved.Added, sum.Same + saved.Same, sum.Replaced + saved.Replaced, saved.Total}
		fetched = &exchange.Candles{Interval: d.Interval}
		return err
	}
	for _, g := range gaps {
		for from := g.fromMS; from < g.toMS; {
			to := min(g.toMS, from+int64(d.Page)*int64(d.Interval))
			page, err := source.Candles(ctx, d.Interval, from, to)
			if err == nil {
				err = d.appendPage(fetched, page, from, to)
			}
			if err != nil {
				return sum, errors.Join(err, flush())
			}
			done += int((to - from) / int64(d.Interval))
			if from = to; d.Progress != nil {
				d.Progress(done, total)
			}
			if fetched.Len() >= saveEvery {
				if err := flush(); err != nil {
					return sum, err
				}
			}
		}
	}
	return sum, flush()
}

// appendPage checks a page and appends its candles.
func (d Download) appendPage(fetched, page *exchange.Candles, fromMS, toMS int64) error {
	lastMS := fromMS - 1
	for i := range page.Len() {
		candle := page.At(i)
		switch {
		case candle.OpenMS >= toMS || candle.OpenMS < fromMS:
			continue // some venues return more than was requested
		case d.Interval.OpenOf(candle.OpenMS) != candle.OpenMS:
			return fmt.Errorf("the venue's candle at %d is off the grid of %s", candle.OpenMS, d.Interval)
		case candle.OpenMS <= lastMS:
			return fmt.Errorf("the venue's candle at %d is not after the one before (%d)", candle.OpenMS, lastMS)
		}
		if err := candle.Plausible(); err != nil {
			return fmt.Errorf("the venue's candle at %d: %w", candle.OpenMS, err)
		}
		lastMS = candle.OpenMS
		fetched.Append(candle)
	}
	return nil
}

type gap struct{ fromMS, toMS int64 }

// missing returns the parts of the span that the store lacks.
func (d Download) missing() (gaps []gap, have int, err error) {
	from, to := d.Interval.OpenOf(d.FromMS+int64(d.Interval)-1), d.Interval.OpenOf(d.ToMS)
	old, err := d.Store.Load(d.Symbol, d.Interval)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = &Tape{Candles: &exchange.Candles{Interval: d.Interval}}
	case err != nil:
		return nil, 0, err
	}
	next := from
	for _, at := range old.Candles.OpenMS {
		if at >= to {
			break
		}
		if at > next {
			gaps = append(gaps, gap{next, at})
		}
		next = max(next, at+int64(d.Interval))
	}
	if next < to {
		gaps = append(gaps, gap{next, to})
	}
	return gaps, old.Candles.Len(), nil
}
