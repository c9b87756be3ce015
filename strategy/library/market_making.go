package library

import (
	"math"

	"github.com/shopspring/decimal"

	"botd/strategy"
	"botd/strategy/indicator"
)

type marketMakingParams struct {
	Spread decimal.Decimal `param:"spread" default:"0.2%" min:"0.00001" max:"0.5" help:"distance of the best bid and ask, as a share of the price"`
	quoteParams
}

// marketMaking holds a buy below and a sell above the mid price of the book, each at half the spread, and
// moves them with the mid price: impatient traders pay it the spread. If no book is known (recorded candles
// have none), it quotes around the last price. A position shrinks the orders that add to it (skew). Orders
// are post-only on futures. Spot has no post-only orders, so an order that the price has reached by the time
// it arrives takes there. It acts on each tick: give it a schedule of some seconds.
//
// On futures both sides rest while there is no position. When one fills, the other is canceled and
// quoted again as a reducing order, because the interface defines no meaning for an opening order
// against a position. On spot there is nothing to sell before something has been bought.
//
// It loses when the price trends: the orders on the losing side fill and those that would earn the
// spread back do not (adverse selection). The fees of both fills must be less than the spread.
func marketMaking() strategy.Definition {
	return strategy.Define("market_making", "keeps orders on both sides of the price and earns the spread",
		func(setting strategy.Setting, p marketMakingParams) (strategy.Strategy, error) {
			half := float64(p.Spread.InexactFloat64() / 2)
			return newQuoter(setting, p.quoteParams, fixedSpread(half))
		})
}

// fixedSpread quotes half a spread on each side.
type fixedSpread float64

func (fixedSpread) warmup() int                                     { return 1 }
func (fixedSpread) observe(*strategy.View)                          {}
func (f fixedSpread) distances(float64, float64) (bid, ask float64) { return float64(f), float64(f) }
func (f fixedSpread) narrowest() (float64, bool)                    { return float64(2 * float64(f)), true }

type avellanedaParams struct {
	Model    string          `param:"model" default:"avellaneda" oneof:"avellaneda|glft" help:"formula for the spread"`
	Gamma    decimal.Decimal `param:"gamma" default:"0" min:"0" max:"1000000" help:"risk aversion; 0 derives it from risk, kappa and sigma"`
	Risk     decimal.Decimal `param:"risk" default:"1" min:"0.01" max:"100" help:"gamma 0: shift of the quotes at max_position, as a multiple of 1/kappa"`
	Kappa    decimal.Decimal `param:"kappa" default:"0" min:"0" max:"10000000" help:"decay of fills away from the price; 0 estimates it from the candles"`
	Arrivals decimal.Decimal `param:"arrivals" default:"1" min:"0.001" max:"100000" help:"glft: fills per candle of an order at the mid price"`
	Horizon  int             `param:"horizon" default:"1" min:"1" max:"1000" help:"avellaneda: expected holding time of a position in candles"`
	Period   int             `param:"period" default:"30" min:"2" max:"1000" help:"candles of the volatility and of the estimate of kappa"`
	MinEdge  decimal.Decimal `param:"min_edge" default:"0.02%" min:"0" max:"0.5" help:"the quotes never earn less than this after two maker fees"`
	quoteParams
}

// avellaneda quotes around a reservation price that leans away from the position, at a spread that
// grows with volatility. All distances are shares of the price.
//
// model avellaneda (M. Avellaneda, S. Stoikov, High-frequency trading in a limit order book,
// Quantitative Finance 8, 2008), the position as a share of max_position:
//
//	reservation = -position gamma sigma^2 horizon
//	spread      = gamma sigma^2 horizon + 2/gamma ln(1 + gamma/kappa)
//
// model glft (O. Guéant, C.-A. Lehalle, J. Fernandez-Tapia, Dealing with the inventory risk,
// Mathematics and Financial Economics 7, 2013, the asymptotic closed form), q in orders of
// quantity:
//
//	distance of the bid = 1/gamma ln(1 + gamma/kappa) + (2q + 1)/2 slope
//	distance of the ask = 1/gamma ln(1 + gamma/kappa) - (2q - 1)/2 slope
//	slope               = sigma sqrt(gamma / (2 kappa arrivals) (1 + gamma/kappa)^(1 + kappa/gamma))
//
// sigma is the standard deviation of the closes' changes. A kappa of 0 is estimated: the
// probability that a candle's price moves further from its open than a distance is modeled as
// exp(-kappa distance), whose maximum-likelihood kappa is one over the mean distance of the highs
// and lows of the period. A gamma of 0 is replaced by the one at which the reservation price leans
// by risk/kappa at max_position: risk / (kappa sigma^2 horizon). It loses when market making does.
func avellaneda() strategy.Definition {
	return strategy.Define("avellaneda", "market making around a price that leans away from the position, wider in volatile markets",
		func(setting strategy.Setting, p avellanedaParams) (strategy.Strategy, error) {
			fees := float64(2 * setting.Fees.Maker.Float())
			return newQuoter(setting, p.quoteParams, &inventoryModel{
				glft: p.Model == "glft", gamma: p.Gamma.InexactFloat64(), risk: p.Risk.InexactFloat64(), kappa: p.Kappa.InexactFloat64(),
				arrivals: p.Arrivals.InexactFloat64(), horizon: float64(p.Horizon), period: p.Period,
				floor: max(0, fees) + p.MinEdge.InexactFloat64(), deviation: indicator.NewStdDev(p.Period), mean: indicator.NewMean(p.Period),
			})
		})
}

// inventoryModel computes the distances of Avellaneda and Stoikov, or of Guéant, Lehalle and
// Fernandez-Tapia.
type inventoryModel struct {
	glft                                  bool
	gamma, risk, kappa, arrivals, horizon float64
	floor                                 float64 // of the spread
	period                                int
	deviation                             *indicator.StdDev
	mean                                  *indicator.Mean
	reach                                 float64 // mean distance of a candle's high and low from its open
	before, sigma                         float64
}

func (m *inventoryModel) warmup() int { return m.period + 1 }

func (m *inventoryModel) observe(view *strategy.View) {
	c := bar(view)
	if reach, ok := m.mean.Next(float64((c.High - c.Low) / c.Open / 2)); ok {
		m.reach = reach
	}
	if m.before > 0 {
		if s, ok := m.deviation.Next(c.Close/m.before - 1); ok {
			m.sigma = s
		}
	}
	m.before = c.Close
}

// figures returns gamma and kappa, configured or estimated. They are zero if constant prices allow
// no estimate.
func (m *inventoryModel) figures() (gamma, kappa float64) {
	kappa = m.kappa
	if kappa == 0 && m.reach > 0 {
		kappa = 1 / m.reach
	}
	gamma = m.gamma
	if variance := float64(m.sigma * m.sigma * m.horizon); gamma == 0 && kappa > 0 && variance > 0 {
		gamma = m.risk / (kappa * variance)
	}
	return gamma, kappa
}

func (m *inventoryModel) distances(share, orders float64) (bid, ask float64) {
	half := float64(m.floor / 2)
	gamma, kappa := m.figures()
	if gamma <= 0 || kappa <= 0 {
		return half, half
	}
	base, lean := 0.0, 0.0
	if m.glft {
		slope := float64(m.sigma * math.Sqrt(gamma/(2*kappa*m.arrivals)*math.Exp((1+kappa/gamma)*math.Log1p(gamma/kappa))))
		base, lean = math.Log1p(gamma/kappa)/gamma+float64(slope/2), float64(orders*slope)
	} else {
		wild := float64(gamma * m.sigma * m.sigma * m.horizon)
		base, lean = float64((wild+float64(2/gamma*math.Log1p(gamma/kappa)))/2), float64(share*wild)
	}
	half = max(half, base)
	return half + lean, half - lean
}

// narrowest returns the floor of the spread, or the model's spread at zero volatility if that is
// known and wider.
func (m *inventoryModel) narrowest() (float64, bool) {
	narrow := m.floor
	if m.gamma > 0 && m.kappa > 0 {
		narrow = max(narrow, 2/m.gamma*math.Log1p(m.gamma/m.kappa))
	}
	return narrow, true
}
