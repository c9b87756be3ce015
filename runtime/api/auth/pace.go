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

// pace counts requests without a credential by the source they come from.
type pace struct {
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
			if limiter.TokensAt(now) >= unknownBurst { // it is as if it had never been here
				delete(p.sources, name)
			}
		}
		if len(p.sources) >= maxSources {
			source = "" // the rest shares one
		}
	}
	limiter := p.sources[source]
	if limiter == nil {
		limiter = rate.NewLimiter(unknownPerSecond, unknownBurst)
		p.sources[source] = limiter
	}
	return limiter.AllowN(now, 1)
}
