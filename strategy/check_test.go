package strategy_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

type everyKind struct {
	Count int             `param:"count" default:"1" min:"1" max:"9" help:"how many"`
	Share decimal.Decimal `param:"share" default:"1%" min:"0" help:"how much"`
	Pause time.Duration   `param:"pause" default:"1s" min:"1s" help:"how long"`
	Word  string          `param:"word" default:"a" oneof:"a|b" help:"which"`
	Quiet bool            `param:"quiet" default:"true" help:"whether"`
	Side  exchange.Side   `param:"side" default:"buy" help:"buy or sell"`
}

func TestCheckAgreesWithBuildingAboutEveryValue(t *testing.T) {
	t.Parallel()
	definition := strategy.Define("every", "Every kind.", func(strategy.Setting, everyKind) (strategy.Strategy, error) { return nil, nil })
	texts := []string{"", "0", "1", "9", "10", "-1", "1.5", "2%", "x", "a", "A", "c", "true", "maybe", "buy", "SELL", "hold", "1s", "999ms", "1e40"}
	for _, parameter := range definition.Parameters {
		for _, text := range texts {
			checked := parameter.Check(text)
			_, built := definition.New(strategy.Setting{}, strategy.Values{parameter.Name: text})
			var inside *strategy.ValueError
			want, have := "", ""
			if errors.As(built, &inside) {
				want = inside.Err.Error()
			}
			if checked != nil {
				have = checked.Error()
			}
			if want != have {
				t.Errorf("%s %q: want %q as in building, have %q", parameter.Name, text, want, have)
			}
		}
	}
}
