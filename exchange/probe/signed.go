package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"botd/exchange"
	"botd/exchange/wire"
)

// payloads are commonly signed texts, the default of decisions.md first. {path} includes ?query.
var payloads = []string{
	wire.DefaultTemplate,
	"{timestamp}{path}{body}", "{method}{path}{timestamp}{body}", "{method}{path}{body}{timestamp}", "{path}{timestamp}{body}", "{path}{body}{timestamp}",
	"{timestamp}{key}{method}{path}{body}", "{key}{timestamp}{method}{path}{body}", "{timestamp}{key}{path}{body}", "{key}{timestamp}{path}{body}",
	"{timestamp}{key}{query}{body}", "{key}{timestamp}{query}{body}", "{timestamp}{query}{body}", "{query}{body}{timestamp}",
	"{query}{timestamp}{body}", "{query}{body}",
	"{timestamp}{body}", "{body}{timestamp}", "{timestamp}{method}{path}", "{method}{path}{body}", "{method}{path}{timestamp}", "{timestamp}{key}",
	"{key}{timestamp}", "{timestamp}",
	"{timestamp}\n{method}\n{path}\n{body}", "{method}\n{path}\n{timestamp}\n{body}", "{method}\n{path}\n{query}\n{body}\n{timestamp}",
	`{timestamp}\n{method}\n{path}[\n{body}]`, `{timestamp}\n{method}\n{path}\n{body_base64}`, `{timestamp}\n{method}\n{path}[\n{body_base64}]`,
	`{method}\n{path}\n{timestamp}[\n{body_base64}]`, `{timestamp}\n{method}\n{route}\n{query}\n{body}`, "{timestamp}{method}{path}{body_base64}",
	`{timestamp}\n{method}\n{path}\n{body_sha256}`, "{timestamp}{method}{path}{body_sha256}", "{timestamp}{method}{path}[{body_sha256}]",
	"{timestamp}.{body}", "{timestamp}.{method}.{path}.{body}", "{timestamp}|{method}|{path}|{body}", "{timestamp}&{method}&{path}&{body}",
}

// variants are the signers to try: the configured one, then each payload in each encoding.
func (p *prober) variants() []wire.Signer {
	own := p.config.Signer
	if own.Template == "" {
		own.Template = wire.DefaultTemplate
	}
	if own.Encoding == "" {
		own.Encoding = "hex"
	}
	if own.Paths == "" {
		own.Paths = wire.SignFull
	}
	all, paths := []wire.Signer{own}, []string{wire.SignFull}
	if address, err := url.Parse(p.base); err == nil && address.Path != "" {
		paths = append(paths, wire.SignRoute) // only then is there a difference
	}
	for _, template := range payloads {
		for _, encoding := range []string{"hex", "base64"} {
			for _, path := range paths {
				if variant := (wire.Signer{Template: template, Encoding: encoding, Paths: path}); variant != own {
					all = append(all, variant)
				}
			}
		}
	}
	return all
}

// verdict is what a signed read shows about its signature.
type verdict uint8

const (
	accepted    verdict = iota
	otherwise           // the signature is a different one
	outside             // the timestamp is outside the window
	keyRefused          // nothing else need be tried
	unavailable         // no answer that proves anything
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
		return otherwise // some say it this way
	}
	return unavailable
}

// reads are signed reads that place nothing: one plain, one with a query, one with a body. Together
// they distinguish payloads that are equal for one of them.
func (p *prober) reads() []exchange.Request {
	return []exchange.Request{
		{Operation: exchange.FuturesAccount},
		{Operation: exchange.FuturesPositionsHistory, Limit: 1},
		{Operation: exchange.FuturesOpenPositions},
	}
}

// signature tries payloads until signed reads are accepted.
func (p *prober) signature(ctx context.Context) bool {
	step := Step{Name: "signature", Outcome: Fail}
	tried, partly := 0, ""
	for _, variant := range p.variants() {
		p.signer = variant
		tried++
		good := 0
		for _, read := range p.reads() {
			r := p.patiently(ctx, read, 0)
			step.Status, step.LatencyMS = r.status, ms(r.took())
			v := judge(&r)
			if v == accepted {
				good++
				continue
			}
			if v != otherwise {
				step.What, step.Hint = "the venue answered: "+r.err.Error(), hints[v]
				p.report.Refused = v == keyRefused
				p.add(step)
				return false
			}
			break
		}
		if good == len(p.reads()) {
			p.report.Signature = &Signature{Payload: variant.Template, Encoding: variant.Encoding, Paths: variant.Paths}
			step.Outcome, step.What = OK, fmt.Sprintf("payload %q in %s, accepted as variant %d", variant.Template, variant.Encoding, tried)
			p.add(step)
			return true
		}
		if good > 0 && partly == "" {
			partly = fmt.Sprintf("; %q in %s was accepted for %d of %d reads", variant.Template, variant.Encoding, good, len(p.reads()))
		}
	}
	p.report.Refused = true
	step.What = fmt.Sprintf("%d variants of payload and encoding were refused%s", tried, partly)
	step.Hint = "is the secret the key's own? ask the venue what it wants signed, and try it with --signature-payload and --signature-encoding"
	p.add(step)
	return false
}

var hints = map[verdict]string{
	outside:     "the clock above should have prevented this: does the venue mean seconds, or another clock than its /time?",
	keyRefused:  "check the key, its permissions and its IP whitelist",
	unavailable: "try again later",
	guarded:     pageHint,
}

// windowStep is the precision of the window.
const windowStep = 50 * time.Millisecond

// window finds the oldest and the newest timestamp that a signed read may have. The reads place
// nothing, so any may be accepted.
func (p *prober) window(ctx context.Context) {
	began := p.calls
	past, pastOpen, err := p.bound(ctx, -1)
	if err == nil {
		var future time.Duration
		if future, _, err = p.bound(ctx, 1); err == nil {
			p.report.Window = &Window{PastMS: past.Milliseconds(), FutureMS: future.Milliseconds(), Unbounded: pastOpen}
		}
	}
	if err != nil {
		p.add(Step{Name: "window", Outcome: Fail, What: "the venue answered: " + err.Error(), Hint: "try again later; unmeasured, take 60s"})
		return
	}
	w := p.report.Window
	step := Step{Name: "window", Outcome: OK, What: fmt.Sprintf("a timestamp may be %d ms old and %d ms ahead (+-%d ms, %d signed reads)",
		w.PastMS, w.FutureMS, windowStep.Milliseconds()+p.report.Clock.BoundMS, p.calls-began)}
	if w.Unbounded {
		step.Outcome = Warn
		step.What = fmt.Sprintf("a timestamp %s old is still accepted", p.config.MaxAge)
		step.Hint = "a placement whose answer is lost could be admitted that late: botd has to wait as long for its outcome"
	}
	p.add(step)
}

// bound finds how far a timestamp may be shifted in a direction: it doubles the shift until it is
// refused, then halves the gap. open is true when even the largest shift was accepted.
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
// right, so any refusal is about the timestamp.
func (p *prober) admits(ctx context.Context, shift time.Duration) (bool, error) {
	r := p.patiently(ctx, exchange.Request{Operation: exchange.FuturesAccount}, shift)
	switch judge(&r) {
	case accepted:
		return true, nil
	case unavailable, guarded, keyRefused:
		return false, r.err
	}
	return false, nil
}
