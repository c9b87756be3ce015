package auth

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of requests without a credential: a page of the dashboard, scrapes and probes need far fewer.
const (
	unknownPerSecond = 50 // from one source
	unknownBurst     = 200
)

// Limits of requests for market data, which the exchange answers: a chart needs a few.
const (
	marketPerSecond = 10 // of one credential
	marketBurst     = 60
)

// pace counts requests by where they come from: an address, or a credential.
type pace struct {
	perSecond, burst int

	mu      sync.Mutex // guards sources
	sources map[string]*rate.Limiter
}

func (p *pace) allow(source string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sources == nil {
		p.sources = map[string]*rate.Limiter{}
	}
	if p.sources[source] == nil {
		for name, limiter := range p.sources {
			if limiter.TokensAt(now) >= float64(p.burst) { // a full bucket is the same as none
				delete(p.sources, name)
			}
		}
		if len(p.sources) >= maxSources {
			source = "" // the rest shares one
		}
	}
	limiter := p.sources[source]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Limit(p.perSecond), p.burst)
		p.sources[source] = limiter
	}
	return limiter.AllowN(now, 1)
}
