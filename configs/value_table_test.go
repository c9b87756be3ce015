package configs

import (
	"testing"

	"botd/exchange"
	"botd/risk"
)

// TestAValueIsReadWithinItsBounds, written as it was read, or refused with the figure and what to write.
func TestAValueIsReadWithinItsBounds(t *testing.T) {
	t.Parallel()
	var (
		amount exchange.Amount
		lost   risk.Loss
		minute int
		count  int
		lasts  int64
	)
	for _, c := range []struct {
		name  string
		value value
		text  string
		want  string // as it is written again; empty where it is refused
		wrong string
		hint  string
	}{
		{"units", units(&amount), "0.5", "0.5", "", ""},
		{"units", units(&amount), "0", "", " 0 is not above zero", noLimitHint},
		{"units", units(&amount), "-1", "", " -1 is not above zero", noLimitHint},
		{"units", units(&amount), "0.00000000000000000001", "", " 0.00000000000000000001 is too large, or has too many decimal places", ""},
		{"loss", loss(&lost), "5%", "5%", "", ""},
		{"loss", loss(&lost), "100%", "100%", "", ""},
		{"loss", loss(&lost), "500 USDT", "500 USDT", "", ""},
		{"loss", loss(&lost), "0 USDT", "", " 0 USDT is not above zero", noLimitHint},
		{"loss", loss(&lost), "101", "", " 101 is above 100%", "did you mean 101 USDT?"},
		{"loss", loss(&lost), "what USDT", "", `: "what" is not a number`, "write a share, 5%, or money, 500 USDT"},
		{"time of day", timeOfDay(&minute), "06:07", "06:07", "", ""},
		{"time of day", timeOfDay(&minute), "23:59", "23:59", "", ""},
		{"time of day", timeOfDay(&minute), "off", "off", "", ""},
		{"time of day", timeOfDay(&minute), "24:00", "", ` "24:00" is not a time of day in UTC`, "write 06:00, or off"},
		{"whole number", whole(&count, 2, 9), "2", "2", "", ""},
		{"whole number", whole(&count, 2, 9), "9", "9", "", ""},
		{"whole number", whole(&count, 2, 9), "1", "", " 1 is not between 2 and 9", ""},
		{"whole number", whole(&count, 2, 9), "10", "", " 10 is not between 2 and 9", ""},
		{"whole number", whole(&count, 2, 9), "2.5", "", `: "2.5" is not a whole number`, "write a whole number from 2 to 9"},
		{"duration", duration(&lasts, 1_000, 60_000), "1s", "1s", "", ""},
		{"duration", duration(&lasts, 1_000, 60_000), "1m", "1m", "", ""},
		{"duration", duration(&lasts, 1_000, 60_000), "999ms", "", " 999ms is not between 1s and 1m", ""},
		{"duration", duration(&lasts, 1_000, 60_000), "61s", "", " 61s is not between 1s and 1m", ""},
	} {
		wrong, hint := c.value.parse(c.text)
		if wrong != c.wrong || hint != c.hint {
			t.Errorf("%s %q: want %q, %q, have %q, %q", c.name, c.text, c.wrong, c.hint, wrong, hint)
			continue
		}
		if have := c.value.text(); c.want != "" && have != c.want {
			t.Errorf("%s %q: want it written %q, have %q", c.name, c.text, c.want, have)
		}
	}
}

// TestWhatTheSchemaSaysOfAKey: what it is, its kind and unit, its bounds, and its default here and live.
func TestWhatTheSchemaSaysOfAKey(t *testing.T) {
	t.Parallel()
	for want, key := range map[string]Key{
		"a share":                         {Kind: "a share"},
		"how far; a share":                {What: "how `far`", Kind: "a share"},
		"how long; a duration, UTC":       {What: "how long", Kind: "a duration", Unit: "UTC"},
		"a share from 1% to 5%":           {Kind: "a share", Low: "1%", High: "5%"},
		"a share, at least 1%":            {Kind: "a share", Low: "1%"},
		"a share, at most 5%":             {Kind: "a share", High: "5%"},
		"a share; default 2%":             {Kind: "a share", Default: "2%"},
		"a share; default 2%, live 1%":    {Kind: "a share", Default: "2%", Live: "1%"},
		"a share, at most 5%; default 2%": {Kind: "a share", High: "5%", Default: "2%"},
	} {
		if have := key.describe(); have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}
