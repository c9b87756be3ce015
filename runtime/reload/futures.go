package reload

import (
	"botd/configs"
	"botd/exchange"
)

// futuresTraded lists the futures symbols that strategies trade, each once.
func futuresTraded(config *configs.Config) (symbols []string) {
	seen := map[string]bool{}
	for i := range config.Strategies {
		if s := &config.Strategies[i]; s.Market == exchange.Futures && !seen[s.Symbol] {
			seen[s.Symbol] = true
			symbols = append(symbols, s.Symbol)
		}
	}
	return symbols
}
