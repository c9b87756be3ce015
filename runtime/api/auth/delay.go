package auth

import (
	"sync"
	"time"
)

// Bounds of the delays after wrong tokens.
const (
	firstDelay   = time.Second // after a wrong token, doubled with each
	longestDelay = 30 * time.Second
	maxSources   = 1_000 // whose failures are counted separately
)

// delays counts wrong tokens by source address. A correct token is never delayed: a sender on this
// machine must not be able to lock the kill switch.
type delays struct {
	mu     sync.Mutex // guards failed
	failed map[string]*failures
}

// failures are the wrong tokens of one source.
type failures struct {
	count int
	until time.Time // a wrong token before then is answered 429
	last  time.Time
}

// wrong counts a wrong token of a source. It returns the remaining wait if the source did not wait
// for the delay of the previous wrong token.
func (d *delays) wrong(source string, now time.Time) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = map[string]*failures{}
	}
	for name, f := range d.failed {
		if now.Sub(f.last) > time.Hour {
			delete(d.failed, name)
		}
	}
	if d.failed[source] == nil && len(d.failed) >= maxSources {
		source = "" // all further sources share one delay
	}
	f := d.failed[source]
	if f == nil {
		f = &failures{}
		d.failed[source] = f
	}
	wait = max(0, f.until.Sub(now))
	if wait == 0 {
		f.until = now.Add(min(longestDelay, firstDelay<<min(f.count, 10)))
		f.count++
	}
	f.last = now
	return wait
}

func (d *delays) right(source string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.failed, source)
}
