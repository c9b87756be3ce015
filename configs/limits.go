package configs

import (
	"fmt"

	"botd/exchange"
	"botd/risk"
)

// maxLeverage is the largest plausible multiple, so that a forgotten percent sign is detected.
const maxLeverage = 1000

// limitKeys returns the keys of the limits of the account or of a strategy: a key for each row of risk's table. A
// strategy may set all of them.
func limitKeys(into *risk.Limits, ofStrategy bool) (keys []key) {
	for _, l := range risk.Table() {
		if l.Scope == risk.OfStrategy && !ofStrategy {
			continue
		}
		value := valueOf(&l, into).showing(func() string {
			if l.Of != "" && into.Text(l.Of) == "" {
				return ""
			}
			return l.Text(into) // in the form used everywhere
		})
		value.parse = func(text string) (string, string) { return l.Parse(into, text) }
		k := key{name: l.Name, value: value, what: l.What, unit: l.Unit, example: l.Example}
		if l.Of != "" {
			k.after = func(s *section) {
				if node := s.value(l.Name); node != nil && into.Text(l.Of) == "" {
					s.warn(node, "name "+l.Of+" next to it", "%s%s has no effect without %s", s.path, l.Name, l.Of)
				}
			}
		}
		keys = append(keys, k)
	}
	return keys
}

// valueOf returns the kind and the bounds of a limit's field.
func valueOf(l *risk.Limit, limits *risk.Limits) value {
	switch field := l.Field(limits).(type) {
	case *int:
		return whole(field, int(l.Low), int(l.High))
	case *int64:
		return duration(field, l.Low, l.High)
	case *exchange.Rate:
		return share(field, exchange.Rate(l.Low), exchange.Rate(l.High))
	case *exchange.Amount:
		return value{kind: KindNumber}
	case *risk.Loss:
		return value{kind: KindLoss, high: "100%"}
	default:
		panic(fmt.Sprintf("configs: limit %s has a field of type %T", l.Name, field))
	}
}

// refuseLooser reports limits of a strategy that are looser than the account's, since they have no effect.
func refuseLooser(s *section, own, account *risk.Limits) {
	for _, l := range risk.Table() {
		value := s.value(l.Name)
		if value == nil || l.Of != "" || l.Text(own) == "" || l.Text(account) == "" {
			continue
		}
		if order, comparable := l.Compare(own, account); comparable && order > 0 {
			s.wrong(value, "write a tighter limit, remove the line, or raise risk."+l.Name+" in botd.yaml",
				"%s%s %s is looser than the account's %s", s.path, l.Name, value.Value, l.Text(account))
		}
	}
}
