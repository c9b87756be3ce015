package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"botd/exchange"
	"botd/exchange/wire"
	"botd/internal/plural"
)

// verdict is the conclusion about a signature from one signed read.
type verdict uint8

const (
	accepted    verdict = iota
	otherwise           // the signature scheme is wrong
	outside             // the timestamp is outside the window
	keyRefused          // further attempts are pointless
	unavailable         // the answer proves nothing
	guarded             // a web page
)

func judge(r *reply) verdict {
	var (
		refusal *exchange.Refusal
		web     *page
	)
	switch {
	case r.err == nil:
		return accepted
	case errors.As(r.err, &web):
		return guarded
	case errors.As(r.err, &refusal) && refusal.Code == exchange.CodeInvalidTimestamp:
		return outside
	case errors.As(r.err, &refusal) && (refusal.Code == exchange.CodeUnknownKey || refusal.Code == exchange.CodeNotPermitted):
		return keyRefused
	case r.status == http.StatusForbidden:
		return keyRefused
	case r.status == http.StatusUnauthorized, errors.As(r.err, &refusal) && refusal.Code == exchange.CodeInvalidSignature:
		return otherwise
	case r.status == http.StatusBadRequest:
		return otherwise // some venues answer this way
	}
	return unavailable
}

// signature tries schemes until signed reads are accepted: first one without query and body, which
// determines the signed parts of every request and the encoding, then one with a query, and one
// with a body. A refusal excludes every scheme that would sign that read identically, and an
// acceptance excludes every other.
func (p *prober) signature(ctx context.Context) bool {
	search := p.newSearch()
	for _, each := range p.schemes() {
		if !search.possible(each.Signer) {
			continue
		}
		if search.refusals >= p.config.Tries {
			break
		}
		p.signer = each.Signer
		accepts, v, r := search.try(ctx, each.Signer)
		if v != accepted && v != otherwise {
			p.report.Refused = v == keyRefused
			p.add(
				Step{Name: "signature", Outcome: Fail, Status: r.status, LatencyMS: ms(r.took()), What: "the venue answered: " + r.err.Error(),
					Hint: hints[v]},
			)
			return false
		}
		if accepts {
			p.report.Signature = &Signature{Payload: each.Template, Encoding: each.Encoding, Paths: each.Paths}
			p.plain = *search.reads[0].request()
			p.add(Step{Name: "signature", Outcome: OK, Status: r.status, LatencyMS: ms(r.took()),
				What: fmt.Sprintf("payload %q in %s, accepted after %s%s", each.Template, each.Encoding, plural.Of(search.refusals, "refusal"),
					search.untried())})
			return true
		}
	}
	p.report.Refused = true
	p.add(Step{Name: "signature", Outcome: Fail, What: fmt.Sprintf("%s refused%s", plural.Of(search.refusals, "signature"), search.partly()),
		Hint: "is the secret the key's own? ask the venue for its signature scheme and set it with --signature-payload and --signature-encoding; " +
			"--signature-tries tries more"})
	return false
}

// schemes returns the configured scheme, followed by all others by likelihood.
func (p *prober) schemes() []scheme {
	own := p.config.Signer
	own.Template, own.Encoding, own.Paths = cmp.Or(own.Template, wire.DefaultTemplate), cmp.Or(own.Encoding, "hex"), cmp.Or(own.Paths, wire.SignFull)
	paths := []string{wire.SignFull}
	if address, err := url.Parse(p.base); err == nil && address.Path != "" {
		paths = append(paths, wire.SignRoute) // only then do they differ
	}
	return append([]scheme{{Signer: own}}, schemes(paths)...)
}

var hints = map[verdict]string{
	outside:     "the clock above should have prevented this: does the venue mean seconds, or another clock than its /time?",
	keyRefused:  "check the key, its permissions and its IP whitelist",
	unavailable: "try again later",
	guarded:     pageHint,
}

// windowStep is the precision of the window.
const windowStep = 50 * time.Millisecond

// window finds the oldest and the newest timestamp that the venue accepts in a signed read. The
// reads place nothing, so any of them may be accepted.
func (p *prober) window(ctx context.Context) {
	began := p.calls
	p.slowest = 0
	past, pastOpen, err := p.bound(ctx, -1)
	if err == nil {
		var future time.Duration
		if future, _, err = p.bound(ctx, 1); err == nil {
			p.report.Window = &Window{PastMS: past.Milliseconds(), FutureMS: future.Milliseconds(), Unbounded: pastOpen,
				ErrorMS: (windowStep + p.slowest).Milliseconds() + p.report.Clock.BoundMS}
		}
	}
	if err != nil {
		p.add(Step{Name: "window", Outcome: Fail, What: "the venue answered: " + err.Error(), Hint: "try again later; without a measurement, use 60s"})
		return
	}
	w := p.report.Window
	step := Step{Name: "window", Outcome: OK, What: fmt.Sprintf("a timestamp may be %d ms old and %d ms ahead (+-%d ms, %d signed reads)",
		w.PastMS, w.FutureMS, w.ErrorMS, p.calls-began)}
	if w.Unbounded {
		step.Outcome = Warn
		step.What = fmt.Sprintf("a timestamp %s old is still accepted", p.config.MaxAge)
		step.Hint = "a placement whose answer is lost could be admitted that late: botd has to wait as long for its outcome"
	}
	p.add(step)
}

// bound finds how far a timestamp may be shifted in a direction: it doubles the shift until it is
// refused, then halves the gap. open is true if even the largest shift was accepted.
func (p *prober) bound(ctx context.Context, sign time.Duration) (within time.Duration, open bool, err error) {
	good, bad := time.Duration(0), time.Duration(0)
	for shift := time.Second; bad == 0; shift *= 2 {
		shift = min(shift, p.config.MaxAge)
		in, err := p.admits(ctx, sign*shift)
		switch {
		case err != nil:
			return 0, false, err
		case !in:
			bad = shift
		case shift == p.config.MaxAge:
			return shift, true, nil
		default:
			good = shift
		}
	}
	for bad-good > windowStep {
		middle := (good + bad) / 2
		in, err := p.admits(ctx, sign*middle)
		if err != nil {
			return 0, false, err
		}
		if in {
			good = middle
		} else {
			bad = middle
		}
	}
	return good, false, nil
}

// admits reports whether a timestamp with that shift is accepted. The signature is known to be
// valid, so any refusal concerns the timestamp.
func (p *prober) admits(ctx context.Context, shift time.Duration) (bool, error) {
	p.shift = shift
	defer func() { p.shift = 0 }()
	r := p.callWithRetries(ctx, p.plain)
	p.slowest = max(p.slowest, r.took())
	switch judge(&r) {
	case accepted:
		return true, nil
	case unavailable, guarded, keyRefused:
		return false, r.err
	}
	return false, nil
}
