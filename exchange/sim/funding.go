package sim

import (
	"slices"

	"botd/exchange"
)

// FundingPoint is one recorded funding rate.
type FundingPoint struct {
	TimeMS int64
	Rate   exchange.Rate
}

// fundingToleranceMS is the maximum distance of a recorded payment from the full hour.
const fundingToleranceMS = 60_000

// SetFunding sets a futures symbol's recorded rates. A payment without a row has rate 0.
func (x *Exchange) SetFunding(symbol string, rates []FundingPoint) {
	b := x.find(exchange.SymbolKey{Market: exchange.Futures, Name: symbol})
	if b == nil {
		return
	}
	b.funding = slices.Clone(rates)
	for i, point := range b.funding {
		hour := (point.TimeMS + int64(exchange.Hour1)/2) / int64(exchange.Hour1) * int64(exchange.Hour1)
		if off := point.TimeMS - hour; off >= -fundingToleranceMS && off <= fundingToleranceMS {
			b.funding[i].TimeMS = hour
		}
	}
	slices.SortStableFunc(b.funding, func(p, q FundingPoint) int { return int(min(1, max(-1, p.TimeMS-q.TimeMS))) })
}

func (b *orderBook) fundingInterval() int64 {
	return int64(b.symbol.FundingIntervalHours) * int64(exchange.Hour1)
}

// setFundingTime sets the time of the next payment: the first multiple of the interval after a
// time.
func (b *orderBook) setFundingTime(afterMS int64) {
	b.fundingMS = floorTo(afterMS, b.fundingInterval()) + b.fundingInterval()
	b.exchange.dueKnown = false
	b.positionFundingMS = never
	if len(b.positions) > 0 {
		b.positionFundingMS = b.fundingMS
	}
}

// floorTo returns the last multiple of the step at or before n.
func floorTo(n, step int64) int64 {
	rest := n % step
	if rest < 0 {
		rest += step
	}
	return n - rest
}

// fundingRate returns the rate of the payment at a time.
func (b *orderBook) fundingRate(timeMS int64) exchange.Rate {
	at, found := slices.BinarySearchFunc(b.funding, timeMS, func(p FundingPoint, t int64) int { return int(min(1, max(-1, p.TimeMS-t))) })
	if found {
		return b.funding[at].Rate
	}
	if len(b.funding) > 0 {
		return 0
	}
	return b.market.fundingRate(timeMS)
}

// payFunding charges a symbol's positions notional x rate: a long pays a positive rate, a short
// receives it. On recorded candles the mark price is the open of the candle that begins then
// (docs/exchange.md, funding).
func (c *clearing) payFunding(b *orderBook) {
	timeMS := b.fundingMS
	b.setFundingTime(c.exchange.nowMS)
	rate := b.fundingRate(timeMS)
	if len(b.positions) == 0 || rate == 0 {
		return
	}
	mark := b.mark
	if open, ok := b.market.openAt(timeMS); ok {
		mark = open
	}
	for _, p := range b.positions {
		payment := b.symbol.Notional(mark, p.Remaining).MulRate(rate)
		if p.Side == exchange.Short {
			payment = payment.Neg()
		}
		a := p.account
		a.money.Funding = a.money.Funding.Add(payment)
		a.holdings[b.index].funding = a.holdings[b.index].funding.Add(payment)
		a.money.Wallet = a.money.Wallet.Sub(payment)
		c.markChanged(a)
	}
	c.settleAccounts()
}

// reportFunding returns a symbol's funding in the form of the interface: the next payment's rate, the
// last one's time, the next one's time.
func (b marketData) reportFunding() exchange.FundingRate {
	next := b.fundingMS
	if next <= b.exchange.nowMS {
		next = floorTo(b.exchange.nowMS, b.fundingInterval()) + b.fundingInterval()
	}
	return exchange.FundingRate{Symbol: b.symbol.Name, Rate: b.fundingRate(next), TimeMS: next - b.fundingInterval(), NextMS: next}
}
