package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
)

// reach connects once and checks the certificate.
func (p *prober) reach(ctx context.Context) bool {
	address, err := url.Parse(p.base)
	if err != nil {
		p.add(Step{Name: "reach", Outcome: Fail, What: err.Error()})
		return false
	}
	port := address.Port()
	port = cmp.Or(port, map[string]string{"http": "80", "https": "443"}[address.Scheme])
	target := net.JoinHostPort(address.Hostname(), port)
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now()
	connection, err := p.config.dial(limited, "tcp", target)
	if err != nil {
		return p.unreached(err)
	}
	defer connection.Close()
	if address.Scheme == "http" {
		p.add(Step{Name: "reach", Outcome: OK, LatencyMS: ms(time.Since(began)), What: target + ", plain http on this machine"})
		return true
	}
	secure := tls.Client(connection, encryption(p.config.TLS, address.Hostname()))
	if err := secure.HandshakeContext(limited); err != nil {
		return p.unreached(err)
	}
	p.add(reached(target, new(secure.ConnectionState()), time.Since(began)))
	return true
}

// encryption returns the configuration of a connection to the host. Nil is the system's.
func encryption(config *tls.Config, host string) *tls.Config {
	if config == nil {
		return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	config = config.Clone()
	config.ServerName = cmp.Or(config.ServerName, host)
	return config
}

func (p *prober) unreached(err error) bool {
	p.add(Step{Name: "reach", Outcome: Fail, What: err.Error(), Hint: "is the address right, and the venue up? botd takes no proxy from the environment"})
	return false
}

// certificateWarning is the remaining validity of a certificate below which the probe warns.
const certificateWarning = 14 * 24 * time.Hour

func reached(target string, state *tls.ConnectionState, took time.Duration) Step {
	step := Step{Name: "reach", Outcome: OK, LatencyMS: ms(took), What: target + ", " + tls.VersionName(state.Version)}
	if len(state.PeerCertificates) == 0 {
		return step
	}
	ends := state.PeerCertificates[0].NotAfter
	step.What += ", certificate until " + ends.UTC().Format(time.DateOnly)
	if time.Until(ends) < certificateWarning {
		step.Outcome, step.Hint = Warn, "the venue's certificate expires soon: botd cannot connect then until it is renewed"
	}
	return step
}

// publicOrder lists every public operation. The symbol lists come first, because the others need
// their scales.
var publicOrder = []exchange.Operation{
	exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesTime,
	exchange.FuturesSymbols, exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels, exchange.FuturesTickers, exchange.FuturesTicker,
	exchange.FuturesDepth, exchange.FuturesTrades, exchange.FuturesCandles, exchange.FuturesFundingRate,
	exchange.SpotPairs, exchange.SpotTickers, exchange.SpotTicker, exchange.SpotDepth, exchange.SpotTrades, exchange.SpotCandles,
}

// public calls every public operation once.
func (p *prober) public(ctx context.Context) {
	for _, operation := range publicOrder {
		p.ask(ctx, operation)
	}
}

// needsList reports whether an answer contains numbers in a symbol's units.
func needsList(operation exchange.Operation) bool {
	switch operation {
	case exchange.FuturesHealth, exchange.FuturesPing, exchange.FuturesTime, exchange.FuturesSymbols, exchange.FuturesMarginLevels, exchange.SpotPairs:
		return false
	}
	return true
}

func (p *prober) ask(ctx context.Context, operation exchange.Operation) {
	request := exchange.Request{Operation: operation}
	if needsList(operation) {
		symbol := p.pick(operation.Market())
		if symbol == nil {
			p.skip("the "+operation.Market().String()+" list could not be read, or is empty", operation.String())
			return
		}
		request.Symbol = symbol.Name
	}
	if operation == exchange.FuturesCandles || operation == exchange.SpotCandles {
		now := time.Now().Add(p.offset).UnixMilli()
		request.Interval, request.StartMS, request.EndMS, request.Limit = exchange.Minute1, now-int64(exchange.Hour1), now, 60
	}
	r := p.unlimited(ctx, request)
	step := Step{Name: operation.String(), Outcome: OK, Status: r.status, LatencyMS: ms(r.took())}
	if r.err != nil {
		step.Outcome, step.What = Fail, r.err.Error()
		var (
			malformed *exchange.Malformed
			web       *page
		)
		switch {
		case errors.As(r.err, &web):
			step.Hint = pageHint
		case errors.As(r.err, &malformed):
			step.Hint = "botd does not understand this answer: strategies that need it cannot run there"
		}
		p.add(step)
		return
	}
	p.keep(operation, &r)
	step.What, step.Hint = describe(&request, &r.answer)
	if step.Hint != "" {
		step.Outcome = Warn
	}
	p.add(step)
}

// keep stores the symbol lists.
func (p *prober) keep(operation exchange.Operation, r *reply) {
	if operation == exchange.FuturesTime {
		p.offset = time.UnixMilli(r.answer.ServerTimeMS).Sub(r.ended)
	}
	if operation != exchange.FuturesSymbols && operation != exchange.SpotPairs {
		return
	}
	p.listed[operation.Market()] = r.answer.Symbols.Items()
	p.symbols = rest.NewSymbolTable(slices.Concat(p.listed[exchange.Futures], p.listed[exchange.Spot])...)
}

// pick returns the requested symbol, else BTC-USDT, else the first tradable one.
func (p *prober) pick(market exchange.Market) *exchange.Symbol {
	all := p.listed[market]
	for _, name := range []string{p.config.Symbol, "BTC-USDT"} {
		for _, symbol := range all {
			if symbol.Name == name {
				return symbol
			}
		}
	}
	for _, symbol := range all {
		if symbol.Tradable {
			return symbol
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

// describe returns the content of an answer and its irregularity, if any.
func describe(request *exchange.Request, a *exchange.Answer) (what, odd string) {
	switch request.Operation {
	case exchange.FuturesHealth, exchange.FuturesPing:
		return "status " + a.Status, ""
	case exchange.FuturesTime:
		return time.UnixMilli(a.ServerTimeMS).UTC().Format(time.RFC3339), ""
	case exchange.FuturesSymbols, exchange.SpotPairs:
		if len(a.Symbols.Items()) == 0 {
			return "0 symbols", "the market lists no symbols and cannot be traded"
		}
		return fmt.Sprintf("%d symbols", len(a.Symbols.Items())), ""
	case exchange.FuturesMarginLevels, exchange.FuturesSymbolMarginLevels:
		if len(a.Levels.Items()) == 0 {
			return "0 levels", "without margin levels botd assumes a maximum leverage of 1"
		}
		return fmt.Sprintf("%d levels", len(a.Levels.Items())), ""
	case exchange.FuturesTickers, exchange.SpotTickers, exchange.FuturesTicker, exchange.SpotTicker:
		return describeTickers(request, a.Tickers.Items())
	case exchange.FuturesDepth, exchange.SpotDepth:
		return describeDepth(request, &a.Depth)
	case exchange.FuturesTrades, exchange.SpotTrades:
		return fmt.Sprintf("%s, %d trades", request.Symbol, len(a.Trades.Items())), ""
	case exchange.FuturesFundingRate:
		return fmt.Sprintf("%s, %s, next %s", request.Symbol, a.Funding.Rate, time.UnixMilli(a.Funding.NextMS).UTC().Format(time.RFC3339)), ""
	}
	return describeCandles(request, a.Candles)
}

func describeTickers(request *exchange.Request, all []exchange.Ticker) (what, odd string) {
	what = fmt.Sprintf("%d tickers", len(all))
	if request.Operation == exchange.FuturesTicker || request.Operation == exchange.SpotTicker {
		what = request.Symbol
	}
	for i := range all {
		if all[i].Last <= 0 {
			return what, all[i].Symbol + " has no last price"
		}
	}
	return what, ""
}

func describeDepth(request *exchange.Request, d *exchange.Depth) (what, odd string) {
	what = fmt.Sprintf("%s, %d bids, %d asks", request.Symbol, len(d.Bids), len(d.Asks))
	switch {
	case len(d.Bids) == 0 || len(d.Asks) == 0:
		return what, "a side of the book is empty"
	case d.Bids[0].Price >= d.Asks[0].Price:
		return what, "the book is crossed: its best bid is not below its best ask"
	}
	return what, ""
}

func describeCandles(request *exchange.Request, c *exchange.Candles) (what, odd string) {
	what = fmt.Sprintf("%s, %d candles of %s", request.Symbol, c.Len(), request.Interval)
	for i := range c.Len() {
		switch {
		case c.OpenMS[i] != request.Interval.OpenOf(c.OpenMS[i]):
			return what, fmt.Sprintf("a candle opens at %d, which is not a multiple of %s", c.OpenMS[i], request.Interval)
		case i > 0 && c.OpenMS[i] <= c.OpenMS[i-1]:
			return what, "candles are not oldest first, each once"
		}
	}
	if c.Len() == 0 {
		return what, "the last hour has no candle"
	}
	return what, ""
}

const clockTries = 5

// clock reads the server's time several times and uses the shortest round trip, because the server
// read its clock at some moment within it.
func (p *prober) clock(ctx context.Context) {
	best := time.Duration(1<<63 - 1)
	var fault error
	for range clockTries {
		r := p.unlimited(ctx, exchange.Request{Operation: exchange.FuturesTime})
		if r.err != nil {
			fault = r.err
			continue
		}
		if half := r.took() / 2; half < best {
			best = half
			p.offset = time.UnixMilli(r.answer.ServerTimeMS).Sub(r.began.Add(half))
		}
	}
	if best > callTimeout {
		p.add(Step{Name: "clock", Outcome: Fail, What: fmt.Sprintf("the server did not report its time: %v", fault), Hint: "every signature needs it"})
		return
	}
	bound := best + time.Millisecond // the server truncates its time to the millisecond
	p.report.Clock = &Clock{OffsetMS: p.offset.Milliseconds(), BoundMS: (bound + time.Millisecond - 1).Milliseconds()}
	step := Step{Name: "clock", Outcome: OK, LatencyMS: ms(2 * best), What: fmt.Sprintf("the venue is %+d ms from this machine, +-%d ms",
		p.report.Clock.OffsetMS, p.report.Clock.BoundMS)}
	if p.offset.Abs() > time.Second {
		step.Outcome, step.Hint = Warn, "botd signs with the venue's time, so it works; but set this machine's clock (NTP): logs and schedules depend on it"
	}
	p.add(step)
}

// limits reports the rate limits that the answers reveal.
func (p *prober) limits() {
	rate := float64(p.calls) / max(time.Since(p.began).Seconds(), 0.001)
	if p.limited > 0 {
		p.report.Settings.RequestsPerSecond = int(time.Second / p.gap)
	}
	step := Step{Name: "rate_limits", Outcome: OK, What: fmt.Sprintf("%d requests at %.0f a second, none answered 429", p.calls, rate)}
	if p.limited > 0 {
		step.Outcome, step.What = Warn, fmt.Sprintf("%d of %d requests at %.0f a second were answered 429", p.limited, p.calls, rate)
		step.Hint = fmt.Sprintf("set exchange.requests_per_second to what the venue allows; the probe ended at %d", p.report.Settings.RequestsPerSecond)
	}
	for _, name := range slices.Sorted(maps.Keys(p.headers)) {
		step.What += fmt.Sprintf("; %s: %s", name, p.headers[name])
	}
	p.add(step)
}
