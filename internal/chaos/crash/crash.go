// Package crash ends the process at a named point: around a commit of the journal, or a request to the exchange.
//
// The binary that trades contains none of this: an overlay for the go command
// (chaos.CrashOverlay) wraps the daemon's venue and journal for the tests that kill it.
package crash

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/runtime"
)

// Variable is the environment variable that names the point.
const Variable = "BOTD_CRASH"

// point is the place at which the process kills itself.
type point struct {
	place string
	left  atomic.Int64
}

// pass kills the process without warning when the point has been passed often enough.
func (p *point) pass(when, what, name string) {
	if p.place == when+" "+what+" "+name && p.left.Add(-1) == 0 {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			panic(err)
		}
		_ = self.Kill()
		select {} // no code runs after the kill
	}
}

// named returns the point that the environment names, or nil.
func named() *point {
	words := strings.Fields(os.Getenv(Variable))
	if len(words) != 4 {
		return nil
	}
	times, err := strconv.ParseInt(words[3], 10, 64)
	if err != nil {
		panic(err)
	}
	p := &point{place: strings.Join(words[:3], " ")}
	p.left.Store(times)
	return p
}

// Venue returns a venue that may end the process before or after a request.
func Venue(v runtime.Venue) runtime.Venue {
	if p := named(); p != nil {
		return venue{v, p}
	}
	return v
}

type venue struct {
	runtime.Venue
	point *point
}

func (v venue) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	return v.DoBefore(ctx, request, exchange.SendLimit{})
}

func (v venue) DoBefore(ctx context.Context, request exchange.Request, limit exchange.SendLimit) (exchange.Answer, error) {
	v.point.pass("before", "call", request.Operation.String())
	defer v.point.pass("after", "call", request.Operation.String())
	if punctual, ok := v.Venue.(runtime.BudgetedVenue); ok && limit.NotAfterMS != 0 {
		return punctual.DoBefore(ctx, request, limit)
	}
	return v.Venue.Do(ctx, request)
}

// Keeper is the daemon's journal.
type Keeper interface {
	runtime.Journal
	runtime.ReservingJournal
}

// Journal returns a journal that may end the process before or after a commit.
func Journal(j Keeper) Keeper {
	if p := named(); p != nil {
		return journal{j, p}
	}
	return j
}

type journal struct {
	Keeper
	point *point
}

func (j journal) Append(ctx context.Context, records []record.Record) error {
	for i := range records {
		j.point.pass("before", "journal", records[i].Kind().String())
	}
	err := j.Keeper.Append(ctx, records)
	for i := range records {
		j.point.pass("after", "journal", records[i].Kind().String())
	}
	return err
}
