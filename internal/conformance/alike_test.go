package conformance

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"botd/exchange"
	"botd/exchange/wire"
)

// listener records the answers of a venue.
type listener struct {
	Venue
	symbols table
	answers []any
}

func (l *listener) Do(account string, request exchange.Request) (exchange.Answer, error) {
	answer, err := l.Venue.Do(account, request)
	var refusal *exchange.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Status == 400:
		l.answers = append(l.answers, fmt.Sprint(refusal.Status, refusal.Code, refusal.Message))
	case errors.As(err, &refusal): // it concerns the key, which the client hides
		l.answers = append(l.answers, fmt.Sprint(refusal.Status, refusal.Code))
	case err != nil:
		l.answers = append(l.answers, err.Error())
	case moreInProcess[request.Operation]:
		_, body, err := wire.EncodeAnswer(&answer, &request, l.symbols)
		l.answers = append(l.answers, fmt.Sprint(string(body), err))
	default:
		plain := answer
		if answer.Orders.Done() && len(answer.Orders.Items()) == 0 {
			plain.Orders = exchange.FetchedOf[exchange.Order](nil) // an empty list is empty, nil or not
		}
		if answer.Trades.Done() && len(answer.Trades.Items()) == 0 {
			plain.Trades = exchange.FetchedOf[exchange.Trade](nil)
		}
		l.answers = append(l.answers, plain)
	}
	return answer, err
}

// moreInProcess are answers in which the simulated exchange returns more than the interface has fields for.
// They are compared as the interface encodes them.
var moreInProcess = map[exchange.Operation]bool{
	exchange.FuturesSymbols: true, exchange.FuturesTicker: true, exchange.FuturesTickers: true, exchange.FuturesTrades: true,
	exchange.SpotPairs: true, exchange.SpotTicker: true, exchange.SpotTickers: true,
}

// TestTheClientOverHTTPReceivesTheSameAnswers runs the cases on the simulated exchange
// and on the client over its server, and compares the answers field by field: a
// backtest must see what a live run sees.
func TestTheClientOverHTTPReceivesTheSameAnswers(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		if c.Wired() || c.long() {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			var answers [2][]any
			for at, open := range []Open{simulate, overHTTP} {
				l := &listener{symbols: tableOf(c.World.Symbols())}
				err := run(c, func(w World) (_ Venue, err error) {
					l.Venue, err = open(w)
					return l, err
				}, nil)
				if answers[at] = l.answers; err != nil {
					t.Error(err)
				}
			}
			if len(answers[0]) != len(answers[1]) {
				t.Fatalf("want %d answers, have %d", len(answers[0]), len(answers[1]))
			}
			for n := range answers[0] {
				if !reflect.DeepEqual(answers[0][n], answers[1][n]) {
					t.Fatalf("answer %d\nwant %+v\nhave %+v", n, answers[0][n], answers[1][n])
				}
			}
		})
	}
}

// long reports whether a case repeats its steps: other cases ask the same.
func (c *Case) long() bool {
	for i := range c.steps {
		if w := c.steps[i].words; len(w) > 0 && w[0] == "loop" {
			return true
		}
	}
	return false
}
