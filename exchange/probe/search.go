package probe

import (
	"context"
	"fmt"
	"net/url"

	"botd/exchange"
	"botd/exchange/wire"
)

// search finds a venue's signature scheme with signed reads, which place nothing.
type search struct {
	p        *prober
	prefix   string // path of the venue's address
	reads    [3]signedRead
	refusals int
}

// signedRead is one kind of read: the first of its requests that the venue serves, and the signed
// texts that were refused and accepted. Schemes that sign it identically are equivalent for it.
type signedRead struct {
	what     string
	requests []exchange.Request // requests to try; empty if the venue serves none
	encoded  wire.HTTPRequest   // the first one
	refused  map[string]bool
	accepted string
	by       wire.Signer // signer whose text was accepted
}

func (r *signedRead) request() *exchange.Request { return &r.requests[0] }

func (p *prober) newSearch() *search {
	s := &search{p: p, reads: [3]signedRead{
		{what: "without query and body", requests: []exchange.Request{{Operation: exchange.FuturesAccount}, {Operation: exchange.SpotWallet},
			{Operation: exchange.FuturesLeverages}}},
		{what: "with a query", requests: []exchange.Request{{Operation: exchange.FuturesPositionsHistory, Limit: 1},
			{Operation: exchange.SpotOrderHistory, Limit: 1}, {Operation: exchange.SpotUserTrades, Limit: 1}}},
		{what: "with a body", requests: []exchange.Request{{Operation: exchange.FuturesOpenPositions}, {Operation: exchange.FuturesOpenOrders}}},
	}}
	if address, err := url.Parse(p.base); err == nil {
		s.prefix = address.EscapedPath()
	}
	for i := range s.reads {
		s.begin(&s.reads[i])
	}
	return s
}

// begin prepares the first request of a read.
func (s *search) begin(r *signedRead) {
	r.refused, r.accepted = map[string]bool{}, ""
	if len(r.requests) == 0 {
		return
	}
	var err error
	if r.encoded, err = wire.EncodeRequest(r.request(), s.p.symbols); err != nil {
		panic(err) // a read that names nothing of the venue's
	}
}

// signs returns a key for the text that a scheme signs for a read: its signature at a fixed time
// with a fixed secret.
func (s *search) signs(signer wire.Signer, r *signedRead) string {
	path := r.encoded.Path
	if signer.Paths != wire.SignRoute {
		path = s.prefix + path
	}
	return signer.Sign(nil, wire.Signed{Timestamp: "0", Method: r.encoded.Method, Path: path, Key: s.p.key, Body: r.encoded.Body})
}

// possible reports whether a scheme is consistent with all answers so far.
func (s *search) possible(signer wire.Signer) bool {
	for i := range s.reads {
		r := &s.reads[i]
		if len(r.requests) == 0 {
			continue
		}
		if text := s.signs(signer, r); r.refused[text] || r.accepted != "" && r.accepted != text {
			return false
		}
	}
	return true
}

// try sends the reads that the venue has not yet accepted from a scheme, up to the first refusal.
func (s *search) try(ctx context.Context, signer wire.Signer) (all bool, v verdict, reply reply) {
	for i := 0; i < len(s.reads); i++ {
		r := &s.reads[i]
		if len(r.requests) == 0 || r.accepted != "" {
			continue
		}
		reply = s.p.callWithRetries(ctx, *r.request())
		switch v = judge(&reply); {
		case v == accepted:
			r.accepted, r.by = s.signs(signer, r), signer
		case v == otherwise:
			s.refusals++
			r.refused[s.signs(signer, r)] = true
			return false, v, reply
		case v == unavailable && reply.status != 0 && (len(r.requests) > 1 || i > 0):
			r.requests = r.requests[1:] // the venue does not serve it
			s.begin(r)
			i--
		default:
			return false, v, reply
		}
	}
	return true, accepted, reply
}

// untried names the reads that the venue does not serve.
func (s *search) untried() (text string) {
	for i := range s.reads {
		if len(s.reads[i].requests) == 0 {
			text += fmt.Sprintf("; no read %s is served, so that part is not proven", s.reads[i].what)
		}
	}
	return text
}

// partly names the accepted reads if the venue accepted only some of them.
func (s *search) partly() (text string) {
	for i := range s.reads {
		if r := &s.reads[i]; r.accepted != "" {
			text += fmt.Sprintf("; a read %s was accepted, signed as %q in %s", r.what, r.by.Template, r.by.Encoding)
		}
	}
	return text
}
