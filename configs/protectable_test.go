package configs

import (
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// resting rests reducing orders in the order book.
type resting struct{ strategy.Strategy }

func (resting) RestsExits() bool { return true }

func TestSpotStopWithRestingExitsIsRefused(t *testing.T) {
	t.Parallel()
	stop := ProtectConfig{StopLoss: DistanceConfig{Share: exchange.RateOne / 20}}
	for _, c := range []struct {
		name    string
		config  StrategyConfig
		made    strategy.Strategy
		refused bool
	}{
		{"on spot", StrategyConfig{Market: exchange.Spot, Kind: "grid", Protect: stop}, resting{}, true},
		{"a trailing stop", StrategyConfig{Market: exchange.Spot, Kind: "grid", Exits: ExitsConfig{TrailingDistance: exchange.RateOne / 20}}, resting{}, true},
		{"on futures both stand", StrategyConfig{Market: exchange.Futures, Kind: "grid", Protect: stop}, resting{}, false},
		{"without a stop", StrategyConfig{Market: exchange.Spot, Kind: "grid"}, resting{}, false},
		{"a strategy by targets", StrategyConfig{Market: exchange.Spot, Kind: "rsi", Protect: stop}, nil, false},
	} {
		err := c.config.checkProtection(c.made)
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "cannot both reserve the asset") {
			t.Errorf("%s: want it refused: %t, have %v", c.name, c.refused, err)
		}
	}
}
