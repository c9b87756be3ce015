package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"botd/exchange"
	"botd/exchange/sim"
)

// StartMS is the initial time of every world's clock: 2026-01-01T00:00:00Z.
const StartMS = 1_767_225_600_000

// World holds the settings of a case; its zero value is the exchange of docs/exchange.md with its symbols, prices, delay, fees and accounts.
type World struct {
	OppositeOrder string // "reject" or "net"
	DelayMS       int64  // -1 for a delay of 0
	Budget        int    // requests a second
	Random        uint64 // every symbol has a random market with this seed; 0 keeps prices still
	Flags         bool   // three more symbols: HALT-, EXIT- and STUCK-USDT
	Unpriced      bool   // both markets list one more symbol, NEW-USDT, without a price
	Funding       []sim.FundingPoint
	Liquidation   exchange.Rate // the fee, 0 is the taker fee
	Rich          bool          // accounts hold 10 million USDT on futures
}

// accounts are the accounts of a world. The last one's key is read-only.
var accounts = []string{"alice", "bob", "carol", "reader"}

const reader = "reader"

// secretOf returns an account's API secret; its key is its name.
func secretOf(account string) string { return "secret of " + account }

func (w *World) set(words []string) error {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		number, err := strconv.ParseInt(value, 10, 64)
		switch name {
		case "opposite":
			w.OppositeOrder, err = value, nil
		case "delay":
			if w.DelayMS = number; number == 0 {
				w.DelayMS = -1
			}
		case "budget":
			w.Budget = int(number)
		case "symbols":
			w.Flags, w.Unpriced, err = value == "flags", value == "unpriced", nil
		case "random":
			w.Random = uint64(number)
		case "rich":
			w.Rich, err = true, nil
		case "liquidation":
			w.Liquidation, err = exchange.ParseRate(value)
		case "funding": // the rate of the first three payments
			var rate exchange.Rate
			rate, err = exchange.ParseRate(value)
			for i := range int64(3) {
				w.Funding = append(w.Funding, sim.FundingPoint{TimeMS: StartMS + (i+1)*8*int64(exchange.Hour1), Rate: rate})
			}
		default:
			err = fmt.Errorf("unknown")
		}
		if err != nil {
			return fmt.Errorf("world %s: %w", word, err)
		}
	}
	return nil
}

const unpriced = "NEW"

// Symbols returns the symbols of both markets. HALT-USDT has isTrade false, EXIT-USDT isReduceOnly true,
// STUCK-USDT isCancelOrder false; on spot HALT-USDT accepts only LIMIT orders and trades.
func (w *World) Symbols() []*exchange.Symbol {
	symbols := sim.DefaultSymbols()
	var more []string
	if w.Flags {
		more = []string{"HALT", "EXIT", "STUCK"}
	} else if w.Unpriced {
		more = []string{unpriced}
	}
	for _, like := range symbols {
		if like.Base != "SOL" {
			continue
		}
		for _, base := range more {
			symbol := *like
			symbol.Name, symbol.Base = base+"-USDT", base
			switch {
			case base == unpriced:
			case base == "HALT" && symbol.Market == exchange.Spot:
				symbol.OrderTypes = []exchange.OrderType{exchange.Limit}
			case base == "HALT":
				symbol.Tradable = false
			case base == "EXIT":
				symbol.ReduceOnly = symbol.Market == exchange.Futures
			default:
				symbol.Cancelable = false
			}
			symbols = append(symbols, &symbol)
		}
	}
	return symbols
}

// config returns the configuration of the world's exchange.
func (w *World) config() sim.Config {
	config := sim.Config{Symbols: w.Symbols(), StartMS: StartMS, OrderDelayMS: sim.DefaultOrderDelayMS, OppositeOrder: w.OppositeOrder,
		LiquidationFee: w.Liquidation}
	if w.DelayMS != 0 {
		config.OrderDelayMS = max(0, w.DelayMS)
	}
	return config
}

// exchange makes the world's simulated exchange.
func (w *World) exchange() (*sim.Exchange, error) {
	x, err := sim.New(w.config())
	if err != nil {
		return nil, err
	}
	w.markets(x)
	for _, name := range accounts {
		account := sim.DefaultAccount(name)
		account.ReadOnly = name == reader
		if w.Rich {
			account.FuturesUSDT = exchange.AmountOf(10_000_000)
		}
		if err := x.AddAccount(account); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// markets sets the price source of an exchange and its funding rates.
func (w *World) markets(x *sim.Exchange) {
	for _, symbol := range w.Symbols() {
		switch {
		case symbol.Base == unpriced:
			x.SetMarket(symbol.Key(), sim.Fed())
		case w.Random > 0:
			x.SetMarket(symbol.Key(), sim.Random(w.Random))
		}
	}
	if w.Funding != nil {
		x.SetFunding("BTC-USDT", w.Funding)
	}
}

// table finds symbols by key.
type table map[exchange.SymbolKey]*exchange.Symbol

func tableOf(symbols []*exchange.Symbol) table {
	t := table{}
	for _, symbol := range symbols {
		t[symbol.Key()] = symbol
	}
	return t
}

// Symbol returns a symbol's rules.
func (t table) Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool) {
	symbol, found := t[key]
	return symbol, found
}
