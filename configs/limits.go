package configs

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/risk"
)

// maxLeverage is the largest multiple that makes sense, so that a forgotten percent
// sign is seen.
const maxLeverage = 1000

// limits reads the limits of the account, or of a strategy, which may have all of
// them.
func (s *section) limits(into *risk.Limits, ofStrategy bool) {
	for _, l := range risk.Table() {
		if l.Reach == risk.OfStrategy && !ofStrategy {
			continue
		}
		switch field := l.Field(into).(type) {
		case *int:
			s.whole(l.Name, field, int(l.Low), int(l.High))
		case *int64:
			s.duration(l.Name, field, l.Low, l.High)
		case *exchange.Rate:
			s.rate(l.Name, field, exchange.Rate(l.Low), exchange.Rate(l.High))
		case *exchange.Amount:
			s.size(l.Name, field)
		case *risk.Loss:
			s.loss(l.Name, field)
		}
		if node := s.value(l.Name); node != nil && l.Of != "" && into.Text(l.Of) == "" {
			s.warn(node, "name "+l.Of+" beside it", "%s%s has no effect without %s", s.path, l.Name, l.Of)
		}
	}
	into.Complete()
}

// size reads a bound in base units.
func (s *section) size(key string, into *exchange.Amount) {
	var d decimal.Decimal
	node := s.decimal(key, &d)
	if node == nil {
		return
	}
	amount, err := exchange.AmountFromDecimal(d)
	switch {
	case d.Sign() <= 0:
		s.wrong(node, "take the line out for no limit of its own", "%s%s %s is not above zero", s.path, key, node.Value)
	case err != nil:
		s.wrong(node, "", "%s%s %s is too large, or has too many decimal places", s.path, key, node.Value)
	default:
		*into = amount
	}
}

// loss reads the bound of a loss: a share, 5%, or money, 500 USDT.
func (s *section) loss(key string, into *risk.Loss) {
	s.learn(key, Key{Kind: KindLoss, High: "100%"})
	node := s.value(key)
	if node == nil || node.Kind != yaml.ScalarNode {
		s.rate(key, &into.Share, 1, exchange.RateOne)
		return
	}
	money, absolute := strings.CutSuffix(strings.TrimSpace(node.Value), "USDT")
	if !absolute {
		if d, _, err := parseDecimal(node.Value); err == nil && d.GreaterThan(decimal.NewFromInt(100)) {
			s.known = append(s.known, key)
			s.wrong(node, fmt.Sprintf("did you mean %s USDT?", node.Value), "%s%s %s is above 100%%", s.path, key, node.Value)
			return
		}
		share := into.Share
		s.rate(key, &share, 1, exchange.RateOne)
		*into = risk.Loss{Share: share}
		return
	}
	s.known = append(s.known, key)
	d, hint, err := parseDecimal(strings.TrimSpace(money))
	amount, inexact := exchange.AmountFromDecimal(d)
	switch {
	case err != nil:
		s.wrong(node, "write a share, 5%, or money, 500 USDT", "%s%s: %v", s.path, key, err)
	case inexact != nil:
		s.wrong(node, hint, "%s%s %s has more than %d decimal places or is too large", s.path, key, node.Value, exchange.AmountScale)
	case amount.Sign() <= 0:
		s.wrong(node, "take the line out for no limit of its own", "%s%s %s is not above zero", s.path, key, node.Value)
	default:
		*into = risk.Loss{USDT: amount}
	}
}

// refuseLooser reports limits of a strategy that are looser than the account's:
// whoever wrote them believes in something that does not hold.
func refuseLooser(s *section, own, account *risk.Limits) {
	for _, l := range risk.Table() {
		value := s.value(l.Name)
		if value == nil || l.Of != "" || l.Text(own) == "" || l.Text(account) == "" {
			continue
		}
		if order, comparable := l.Compare(own, account); comparable && order > 0 {
			s.wrong(value, "write a tighter limit, take the line out, or raise risk."+l.Name+" in botd.yaml",
				"%s%s %s is looser than the account's %s", s.path, l.Name, value.Value, l.Text(account))
		}
	}
}
