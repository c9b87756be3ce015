package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
)

// signatureOf returns lower-case hex of HMAC-SHA256 by the secret's bytes (docs/exchange.md, the signed string).
// It does not use wire, so that the two share no fault.
func signatureOf(secret, text string) string {
	code := hmac.New(sha256.New, []byte(secret))
	code.Write([]byte(text))
	return hex.EncodeToString(code.Sum(nil))
}

// runner is a case in progress.
type runner struct {
	venue      Venue
	symbols    table
	account    string
	key        exchange.SymbolKey // the symbol of orders and prices
	ids        map[string]int64   // by label
	difference difference         // nil: the venue behaves as the cases expect
}

// difference runs a step on a venue that behaves differently from the case. met is false for any step that it
// does not concern. It returns errEnds if everything after the step differs too.
type difference func(r *runner, s *step) (met bool, err error)

var errEnds = errors.New("what follows is different on this venue")

// run runs the steps in order; "loop TIMES STEPS" repeats the steps after it.
func (r *runner) run(file string, steps []step) error {
	for i := 0; i < len(steps); i++ {
		s := &steps[i]
		if len(s.words) == 3 && s.words[0] == "loop" {
			times, _ := strconv.Atoi(s.words[1])
			count, _ := strconv.Atoi(s.words[2])
			for range times {
				if err := r.run(file, steps[i+1:i+1+count]); err != nil {
					return err
				}
			}
			i += count
			continue
		}
		if err := r.step(s); err != nil {
			return fmt.Errorf("%s:%d: %s\n%w", file, s.line, s.text, err)
		}
	}
	return nil
}

func (r *runner) step(s *step) error {
	if s.afterMS > 0 {
		if err := r.venue.Advance(s.afterMS); err != nil {
			return err
		}
	}
	if len(s.words) == 0 {
		return nil
	}
	switch {
	case s.raw:
		return r.send(s)
	case s.operation() != 0:
		return r.call(s)
	}
	return r.set(s.words)
}

// set executes the steps that are not calls: as, futures, spot, price.
func (r *runner) set(words []string) (err error) {
	switch verb := words[0]; {
	case len(words) < 2:
		return fmt.Errorf("unknown step %q", verb)
	case verb == "as":
		r.account = words[1]
	case verb == "futures" || verb == "spot":
		r.key.Name = words[1]
		r.key.Market, err = exchange.ParseMarket(verb)
	case verb == "price":
		var price, mark exchange.Price
		if price, err = r.price(words[1]); err == nil && len(words) == 4 {
			mark, err = r.price(words[3])
		}
		if err == nil {
			err = r.venue.SetPrice(r.key, price, mark)
		}
	default:
		err = fmt.Errorf("unknown step %q", verb)
	}
	return err
}

// operation returns the operation of a step, or 0. Short words stand for the frequent operations of the futures
// market; those of spot begin with spot_, except orders.
func (s *step) operation() exchange.Operation {
	if len(s.words) == 0 {
		return 0
	}
	if s.raw {
		path, _, _ := strings.Cut(s.words[1], "?")
		operation, _, _, _ := wire.Match(s.words[0], path)
		return operation
	}
	switch s.words[0] {
	case "buy", "sell":
		if slices.Contains(s.words, "spot") {
			return exchange.SpotPlace
		}
		return exchange.FuturesPlace
	case "get":
		return exchange.FuturesOrder
	case "open":
		return exchange.FuturesOpenOrders
	case "cancel":
		return exchange.FuturesCancel
	case "account":
		return exchange.FuturesAccount
	case "positions":
		return exchange.FuturesOpenPositions
	case "history":
		return exchange.FuturesPositionsHistory
	}
	for _, operation := range exchange.Operations() {
		if operation.String() == s.words[0] {
			return operation
		}
	}
	return 0
}

// call performs an operation and checks the text of its answer.
func (r *runner) call(s *step) error {
	if r.difference != nil {
		if met, err := r.difference(r, s); met {
			return err
		}
	}
	return r.ask(s)
}

// ask is call on a venue without differences.
func (r *runner) ask(s *step) error {
	request, err := r.request(s)
	if err != nil {
		return err
	}
	answer, err := r.venue.Do(r.account, request)
	if done, err := s.outcome.judge(err); done || err != nil {
		return err
	}
	_, body, err := wire.EncodeAnswer(&answer, &request, r.symbols)
	if err != nil {
		return err
	}
	r.note(s, body)
	return r.checkAll(s, body, false)
}

// note saves the answered id under the step's label.
func (r *runner) note(s *step, body []byte) {
	if s.label == "" {
		return
	}
	for _, path := range [][]string{{"id"}, {"[0]", "id"}} {
		if raw, found, err := find(body, path); err == nil && found {
			r.ids[s.label], _ = strconv.ParseInt(string(raw), 10, 64)
			return
		}
	}
}

func (r *runner) checkAll(s *step, body []byte, exact bool) error {
	var faults []error
	for _, w := range s.wants {
		faults = append(faults, w.check(body, r.ids, exact))
	}
	return errors.Join(faults...)
}

// judge compares the outcome of a call with the expected one; done reports that there is no answer to check.
func (o outcome) judge(err error) (done bool, _ error) {
	var refusal *exchange.Refusal
	switch {
	case o.kind != "":
		if have := exchange.ErrorKind(err); have != o.kind {
			return true, fmt.Errorf("want it to end %s, have %q: %w", o.kind, have, err)
		}
		return true, nil
	case o.status < 300 && err != nil:
		return true, fmt.Errorf("want an answer, have %w", err)
	case o.status < 300:
		return false, nil
	case !errors.As(err, &refusal):
		return true, fmt.Errorf("want a refusal with HTTP %d %s, have %v", o.status, o.code, err)
	}
	return true, o.compare(refusal.Status, refusal.Code, refusal.Message)
}

func (o outcome) compare(status, code int, message string) error {
	if status != o.status || o.code != "" && codeOf(o.code) != code {
		return fmt.Errorf("want HTTP %d and code %d (%s), have %d and %d: %s", o.status, codeOf(o.code), o.code, status, code, message)
	}
	return nil
}

// codeOf parses a number, or a name of the table that code, docs and tests share (docs/exchange.md, error bodies).
func codeOf(text string) int {
	if code, err := strconv.Atoi(text); err == nil {
		return code
	}
	if text == "malformed" {
		return wire.CodeMalformed
	}
	for _, rule := range sim.Rules() {
		if rule.Name == text {
			return rule.Code
		}
	}
	return -1
}

func (r *runner) price(text string) (exchange.Price, error) {
	d, err := decimal.NewFromString(text)
	if err != nil {
		return 0, fmt.Errorf("price %q: %w", text, err)
	}
	return r.symbols[r.key].Price(d)
}
