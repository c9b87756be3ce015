// Package library holds the built-in strategies.
package library

import (
	"botd/exchange"
	"botd/strategy"
)

// All returns every built-in strategy.
func All() []strategy.Definition {
	return []strategy.Definition{avellaneda(), bollinger(), buyAndHold(), dca(), donchian(), emaCross(), fundingCarry(), grid(), macd(),
		marketMaking(), rebalance(), rsi(), signals(), smaCross(), supertrend(), turtle(), twap(), zscore()}
}

// sized returns the configured size or, without one, the whole equity.
func sized(setting strategy.Setting) strategy.Size {
	if setting.Size.IsZero() {
		return strategy.Size{Equity: exchange.RateOne}
	}
	return setting.Size
}
