package backtest

import (
	"context"
	"time"
)

// Warmup shows how decisions depend on the first candles. It compares runs that begin later with the run on all
// candles.
type Warmup struct {
	Schema   int         `json:"schema"`
	Declared int         `json:"declared"` // candles that the strategies declare they need
	From     time.Time   `json:"from"`     // the start of the comparison
	Candles  int         `json:"candles"`  // compared candles
	Rows     []WarmupRow `json:"rows"`
	Enough   *int        `json:"enough"` // the fewest preceding candles without a difference, in this and all longer runs; null if none of those tried suffices
}

// WarmupRow is one run with a later beginning.
type WarmupRow struct {
	Before    int        `json:"before"`    // candles before the start of the comparison
	Differing int        `json:"differing"` // candles with a different plan in force
	Last      *time.Time `json:"last"`      // the last of them; null for none
}

// FindWarmup compares runs that begin ever earlier before the middle of the candles: as many candles as the
// strategies declare, twice as many, and so on.
func FindWarmup(ctx context.Context, config Config) (*Warmup, error) {
	whole, err := config.decisions(ctx)
	if err != nil {
		return nil, err
	}
	candles := config.Legs[0].Tape.Candles
	middle := candles.Len() / 2
	found := &Warmup{Schema: 1, From: utc(candles.OpenMS[middle]), Candles: candles.Len() - middle}
	for i := range config.Legs {
		fresh, err := config.Legs[i].Make(config.Legs[i].Tape)
		if err != nil {
			return nil, err
		}
		found.Declared = max(found.Declared, fresh.Warmup())
	}
	for before := max(1, found.Declared); ; before *= 2 {
		before = min(before, middle)
		have, err := decide(ctx, config.between(candles.OpenMS[middle-before], never-int64(candles.Interval)))
		if err != nil {
			return nil, err
		}
		row := WarmupRow{Before: before}
		for i := middle; i < candles.Len(); i++ {
			if closeMS := candles.CloseMS(i); !sameInForce(config.Legs, whole, have, closeMS) {
				row.Differing, row.Last = row.Differing+1, new(utc(closeMS))
			}
		}
		found.Rows = append(found.Rows, row)
		if before == middle {
			break
		}
	}
	for i := len(found.Rows) - 1; i >= 0 && found.Rows[i].Differing == 0; i-- {
		found.Enough = &found.Rows[i].Before
	}
	return found, nil
}

// sameInForce reports whether two runs have the same plans of every strategy in force at a time.
func sameInForce(legs []Leg, whole, have []decision, atMS int64) bool {
	for i := range legs {
		name := legs[i].Strategy.Name
		if inForce(whole, name, atMS) != inForce(have, name, atMS) {
			return false
		}
	}
	return true
}

// inForce returns a strategy's last plan up to a time.
func inForce(list []decision, name string, atMS int64) string {
	low, high := 0, len(list)
	for low < high {
		if middle := (low + high) / 2; list[middle].atMS <= atMS {
			low = middle + 1
		} else {
			high = middle
		}
	}
	for i := low - 1; i >= 0; i-- {
		if list[i].strategy == name {
			return list[i].plan
		}
	}
	return ""
}
