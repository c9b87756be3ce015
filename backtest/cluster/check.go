package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"time"

	"botd/backtest/search"
	"botd/internal/failure"
)

// check is a job that runs twice.
type check struct {
	job         job
	first       *row // the row that counts
	second      *row // from another worker
	requestedAt time.Time
}

// checked reports whether a job belongs to the fixed hundredth that runs twice.
func checked(job string) bool {
	sum := sha256.Sum256([]byte(job))
	return (int(sum[0])<<8|int(sum[1]))%100 == 0
}

// checkOf hands a selected job to another worker for a second run. The first row of a job is always final.
func (c *Coordinator) checkOf(ctx context.Context, a *arrival, choice search.Choice) error {
	one := c.checks[a.job]
	switch {
	case one != nil: // the second row arrived first
	case checked(a.job) || c.timed == 1:
		one = &check{}
		c.checks[a.job] = one
	default:
		return nil
	}
	one.job, one.first = job{Job: a.job, Choice: choice}, &a.row
	if one.second != nil {
		return c.compare(a.job)
	}
	return c.askAgain(ctx, one)
}

// askAgain hands out the second run of a trial.
func (c *Coordinator) askAgain(ctx context.Context, one *check) error {
	sent, err := c.send(ctx, &message{Sweep: c.key, Jobs: []job{one.job}, Not: one.first.Worker})
	if sent {
		one.requestedAt = time.Now()
	}
	return err
}

// compare counts a job when both its rows have arrived.
func (c *Coordinator) compare(job string) error {
	one := c.checks[job]
	if one.first == nil || one.second == nil {
		return nil
	}
	c.sweep.Checked++
	return compared(one.first, one.second)
}

// compared returns an error, which ends the sweep, when two workers make different rows of one job.
func compared(first, second *row) error {
	if bytes.Equal(first.Trial, second.Trial) {
		return nil
	}
	return failure.New(failure.Internal, "remove the machine with the wrong results, then continue with botd sweep resume",
		"two workers computed different rows for one trial, so no row is reliable:\n%s: %s\n%s: %s",
		first.Worker, first.Trial, second.Worker, second.Trial)
}

// checksEnd waits for second runs while another worker can perform them.
func (c *Coordinator) checksEnd(ctx context.Context) error {
	if err := c.beat(ctx); err != nil { // a short sweep has not read yet who works
		return err
	}
	left := func() (n int) {
		for _, one := range c.checks {
			if one.first != nil && one.second == nil && c.another(one.first.Worker) {
				n++
			}
		}
		return n
	}
	if err := c.until(ctx, &batch{latest: time.Now()}, func() bool { return left() == 0 }); err != nil {
		return err
	}
	skipped := 0
	for _, one := range c.checks {
		if one.first != nil && one.second == nil {
			skipped++
		}
	}
	c.Log("%d trials were run by two workers, with the same rows", c.sweep.Checked)
	if skipped > 0 {
		c.Log("warning: %d trials were to be checked by a second worker, but there was none", skipped)
	}
	return nil
}

// another reports whether any other worker is alive.
func (c *Coordinator) another(than string) bool {
	for _, w := range c.workers {
		if w.ID != than && w.Program == c.sweep.Program {
			return true
		}
	}
	return false
}
