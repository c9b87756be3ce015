package simulation

import (
	"maps"
	"slices"

	"botd/exchange"
	"botd/strategy"
	starlark "botd/strategy/script"
)

// libraryFrom is the first seed whose swings may be strategies of the library, each with the fewest candles
// that it accepts.
const libraryFrom = 1 << 41

// listed is a strategy of the library that holds a target.
type listed struct {
	definition strategy.Definition
	market     exchange.Market // 0 for either
	values     strategy.Values
	share      string // parameter that bounds the position by a share of the equity; empty for none
}

// followers are strategies of the library that hold a target on either side, with their parameters.
var followers = []listed{
	{definition: find("sma_cross"), values: strategy.Values{"fast": "1", "slow": "2"}},
	{definition: find("ema_cross"), values: strategy.Values{"fast": "1", "slow": "2"}},
	{definition: find("bollinger"), values: strategy.Values{"period": "2", "deviations": "0.1"}},
	{definition: find("zscore"), values: strategy.Values{"period": "2", "enter": "0.1"}},
	{definition: find("buy_and_hold")},
}

// libraries replaces swings by strategies of the library.
func (c *portfolio) libraries(d *draw) {
	for i := range c.roles {
		r := &c.roles[i]
		if r.kind != "swing" || !d.chance(0.8) {
			continue
		}
		r.kind, r.follower = "library", int(d.below(int64(len(followers))))
		r.name = followers[r.follower].definition.Name + "-" + r.key.Name + "-" + r.key.Market.String()
	}
}

// made creates a listed strategy, which holds its maximum or less; on futures every second one also goes short.
func (r *role) made(one listed, symbol *exchange.Symbol) strategy.Strategy {
	values := strategy.Values{}
	maps.Copy(values, one.values)
	if one.share != "" {
		values[one.share] = r.share.Decimal().String()
	}
	if r.key.Market == exchange.Futures && r.salt%2 == 0 &&
		slices.ContainsFunc(one.definition.Parameters, func(p strategy.Parameter) bool { return p.Name == "mode" }) {
		values["mode"] = "long_short"
	}
	made, err := one.definition.New(strategy.Setting{Market: r.key.Market, Symbol: symbol, Interval: exchange.Minute1, Size: strategy.Size{Quantity: r.most}},
		values)
	if err != nil {
		panic(err)
	}
	return made
}

// assortedFrom is the first seed whose strategies may be scripts, or those of the library that keep resting orders or buy at fixed intervals.
const assortedFrom = 1 << 42

// assortment lists these strategies: the definition, the maximum position as a multiple of the usual order
// quantity, and the parameters.
var assortment = []struct {
	definition strategy.Definition
	most       exchange.Quantity
	short      string // parameter of a strategy that can go short; empty for none
	rests      bool   // it keeps resting exits
	quotes     bool   // and resting openings on both sides
	values     func(r *role, symbol *exchange.Symbol) strategy.Values
}{
	{find("grid"), 4, "side", true, false, gridValues}, {find("dca"), 16, "", false, false, averagingValues},
	{find("market_making"), 3, "", true, true, quoteValues},
	{find("avellaneda"), 3, "", true, true, inventoryValues}, {compiled("targets.star", targetScript), 2, "", false, false, scriptValues},
	{compiled("quotes.star", quoteScript), 3, "", true, false, scriptValues},
}

// targetScript alternates between a position of the size, twice that, and none; on futures also short.
const targetScript = `
size = param("size", 1.0)
salt = param("salt", 0)

def decide(view):
    turn = (view.now_ms // 25000 * 7 + salt) % 5
    if turn == 3 and view.market == "futures":
        return plan(target = quantity(-size), reason = "by the timetable")
    return plan(target = quantity(size * (turn if turn < 3 else 0)), reason = "by the timetable")
`

// quoteScript keeps two bids, under new keys every minute, and offers its position. For a moment of each minute it has none.
const quoteScript = `
size = param("size", 1.0)
salt = param("salt", 0)

def decide(view):
    bids, asks = [], []
    turn = (view.now_ms + salt) // 60000
    if (view.now_ms + salt) % 60000 > 10000 and view.position < 2 * size:
        bids = [order("near%d" % turn, "buy", view.last * 0.9995, size), order("far%d" % turn, "buy", view.last * 0.998, size)]
    if view.position > 0:
        asks = [order("ask", "sell", max(view.entry_price, view.last) * 1.0005, view.position)]
    return plan(orders = bids, exits = asks, reason = "the quotes")
`

func compiled(name, source string) strategy.Definition {
	made, err := starlark.Compile(name, []byte(source))
	if err != nil {
		panic(err)
	}
	return made.Definition()
}

// gridValues are the parameters of four cells around the initial price, each a quarter of a percent wide, or a
// few ticks wide for the largest tick that the rules may get.
func gridValues(r *role, symbol *exchange.Symbol) strategy.Values {
	half := max(r.anchor/200, 12*symbol.PriceTick)
	values := strategy.Values{"lower": symbol.PriceDecimal(symbol.FloorPrice(r.anchor - half)).String(),
		"upper": symbol.PriceDecimal(symbol.CeilPrice(r.anchor + half)).String(), "lines": "5", "quantity": symbol.QuantityDecimal(r.unit).String()}
	for bit, name := range []string{"initial", "trail", "restart"} {
		if r.salt>>(8+bit)&1 == 1 {
			values[name] = "true"
		}
	}
	return values
}

// averagingValues are the parameters of purchases every twenty seconds and on falls; most sell everything at a small profit and start again.
func averagingValues(r *role, symbol *exchange.Symbol) strategy.Values {
	values := strategy.Values{"amount": symbol.Notional(r.anchor, r.unit+r.unit/5).String(), "every": "20s", "buys": "6", "fall": "0.2%", "falls": "3"}
	if r.salt>>8%4 != 0 {
		values["take_profit"] = "0.1%"
	}
	return values
}

// quoteValues are the parameters of quotes that move every ten seconds: faster quotes would exceed the judges' bound on placements.
func quoteValues(r *role, symbol *exchange.Symbol) strategy.Values {
	values := strategy.Values{"quantity": symbol.QuantityDecimal(r.unit).String(), "max_position": symbol.QuantityDecimal(r.most).String(),
		"refresh": "10s", "filled_delay": "3s", "level_step": "0.1%"}
	if r.salt>>8%2 == 0 {
		values["levels"] = "2"
	}
	return values
}

// inventoryValues are the parameters of a market maker that measures the volatility over the fewest candles that it accepts.
func inventoryValues(r *role, symbol *exchange.Symbol) strategy.Values {
	values := quoteValues(r, symbol)
	values["period"] = "2"
	return values
}

func scriptValues(r *role, symbol *exchange.Symbol) strategy.Values {
	return strategy.Values{"size": symbol.QuantityDecimal(r.unit).String(), "salt": string('0' + rune(r.salt%5))}
}

// assort replaces swings and ladders by strategies of the assortment.
func (c *portfolio) assort(d *draw) {
	for i := range c.roles {
		r := &c.roles[i]
		if r.kind != "swing" && r.kind != "ladder" || !d.chance(0.9) {
			continue
		}
		r.kind, r.follower = "assorted", int(d.below(int64(len(assortment))))
		one := assortment[r.follower]
		r.most = r.unit * one.most
		r.name = one.definition.Name + "-" + r.key.Name + "-" + r.key.Market.String()
		r.protected = r.protected && r.protectable()
	}
}

// protectable reports whether the configuration may protect the role: on spot a resting exit and a stop cannot both lock the asset.
func (r *role) protectable() bool {
	return r.kind != "ladder" && !(r.kind == "assorted" && r.key.Market == exchange.Spot && assortment[r.follower].rests)
}

// quotes reports whether a symbol's strategy keeps orders on both sides.
func (c *portfolio) quotes(key exchange.SymbolKey) bool {
	return slices.ContainsFunc(c.roles, func(r role) bool {
		return r.key == key && r.kind == "assorted" && assortment[r.follower].quotes
	})
}

// assorted creates the strategy under the present rules; if they reject its parameters, the strategy continues with its initial ones.
func (r *role) assorted(symbol *exchange.Symbol) strategy.Strategy {
	one := assortment[r.follower]
	values := one.values(r, r.initial)
	if one.short != "" && r.key.Market == exchange.Futures && r.salt%2 == 0 {
		values[one.short] = "short"
	}
	setting := strategy.Setting{Market: r.key.Market, Symbol: symbol, Interval: exchange.Minute1, CatchUp: 1}
	made, err := one.definition.New(setting, values)
	if err != nil {
		setting.Symbol = r.initial
		made, err = one.definition.New(setting, values)
	}
	if err != nil {
		panic(err)
	}
	return made
}
