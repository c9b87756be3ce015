//go:build botd_crash

package cli

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"botd/exchange"
	"botd/internal/chaos"
	"botd/reconcile/record"
	"botd/runtime"
)

// crashPoint is the place at which the process kills itself (chaos.Points).
type crashPoint struct {
	place string
	left  atomic.Int64
}

// pass dies without a warning when the place has come often enough.
func (p *crashPoint) pass(when, what, name string) {
	if p.place == when+" "+what+" "+name && p.left.Add(-1) == 0 {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			panic(err)
		}
		_ = self.Kill()
		select {} // nothing runs after it
	}
}

// crashing lets the process die at the point that the environment names.
func crashing(venue runtime.Venue, journal runtime.Journal) (runtime.Venue, runtime.Journal) {
	words := strings.Fields(os.Getenv(chaos.CrashVariable))
	if len(words) != 4 {
		return venue, journal
	}
	point := &crashPoint{place: strings.Join(words[:3], " ")}
	times, err := strconv.ParseInt(words[3], 10, 64)
	if err != nil {
		panic(err)
	}
	point.left.Store(times)
	return crashingVenue{venue, point}, crashingJournal{journal.(keepingJournal), point}
}

type crashingVenue struct {
	runtime.Venue
	point *crashPoint
}

func (v crashingVenue) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return v.DoBefore(ctx, request, exchange.SendLimit{})
}

func (v crashingVenue) DoBefore(ctx context.Context, request exchange.Request, departure exchange.SendLimit) (exchange.Answer, error) {
	v.point.pass("before", "call", request.Operation.String())
	defer v.point.pass("after", "call", request.Operation.String())
	if punctual, ok := v.Venue.(runtime.Punctual); ok && departure.NotAfterMS != 0 {
		return punctual.DoBefore(ctx, request, departure)
	}
	return v.Venue.Do(ctx, request)
}

type keepingJournal interface {
	runtime.Journal
	runtime.Keeper
}

type crashingJournal struct {
	keepingJournal
	point *crashPoint
}

func (j crashingJournal) Append(ctx context.Context, records []record.Record) error {
	for i := range records {
		j.point.pass("before", "journal", records[i].Kind.String())
	}
	err := j.keepingJournal.Append(ctx, records)
	for i := range records {
		j.point.pass("after", "journal", records[i].Kind.String())
	}
	return err
}
