package configs

import (
	"testing"

	"botd/exchange"
)

// An accepted value is formatted as it was read; a refusal contains the figure and a hint.
func TestAValueIsReadWithinItsBounds(t *testing.T) {
	t.Parallel()
	var (
		money  exchange.Amount
		minute int
		count  int
		lasts  int64
		part   exchange.Rate
		word   string
		is     bool

		from, until int
	)
	percentOf := func(n int) exchange.Rate { return exchange.RateOne / 100 * exchange.Rate(n) }
	for _, c := range []struct {
		name  string
		value value
		text  string
		want  string // formatted again; empty if it is refused
		wrong string
		hint  string
	}{
		{"money", amount(&money, exchange.AmountOf(2)), "2", "2", "", ""},
		{"money", amount(&money, exchange.AmountOf(2)), "1.99", "", " 1.99 is below 2", ""},
		{"money", amount(&money, exchange.AmountOf(2)), "2.0000000000000000001", "",
			" 2.0000000000000000001 has more than 18 decimal places or is too large", ""},
		{"money", amount(&money, exchange.AmountOf(2)), "two", "", `: "two" is not a number`, "write a plain number, such as 0.5"},
		{"share", share(&part, percentOf(1), percentOf(50)), "1%", "1%", "", ""},
		{"share", share(&part, percentOf(1), percentOf(50)), "0.5", "50%", "", ""},
		{"share", share(&part, percentOf(1), percentOf(50)), "0.009", "", " 0.009 is below 1%", ""},
		{"share", share(&part, percentOf(1), percentOf(50)), "0.9", "", " 0.9 is above 50%", ""},
		{"share", share(&part, percentOf(1), percentOf(50)), "1", "", " 1 is above 50%", "did you mean 1%?"},
		{"share", share(&part, percentOf(1), percentOf(50)), "50", "", " 50 is above 50%", "did you mean 50%?"},
		{"share", share(&part, percentOf(1), percentOf(50)), "51", "", " 51 is above 50%", ""},
		{"share", share(&part, percentOf(2), percentOf(50)), "1", "", " 1 is above 50%", ""},
		{"share", share(&part, percentOf(2), percentOf(50)), "2", "", " 2 is above 50%", "did you mean 2%?"},
		{"share", share(&part, percentOf(1), percentOf(50)), "200%", "", " 200% is above 50%", ""},
		{"share", share(&part, percentOf(1), percentOf(50)), " 5 % ", "5%", "", ""},
		{"share", share(&part, percentOf(1), percentOf(50)), "0.123456789", "", `: "0.123456789" has more than 8 decimal places or is too large`,
			"write a share, such as 5% or 0.05"},
		{"memory", megabytes(&lasts, 16, 2048), "16MB", "16MB", "", ""},
		{"memory", megabytes(&lasts, 16, 2048), "17 MiB", "17MB", "", ""},
		{"memory", megabytes(&lasts, 16, 2048), "2GB", "2048MB", "", ""},
		{"memory", megabytes(&lasts, 16, 2048), "1GiB", "1024MB", "", ""},
		{"memory", megabytes(&lasts, 16, 2048), "15MB", "", " 15MB is not between 16MB and 2048MB", ""},
		{"memory", megabytes(&lasts, 16, 2048), "2049MB", "", " 2049MB is not between 16MB and 2048MB", ""},
		{"memory", megabytes(&lasts, 16, 2048), "2TB", "", ` "2TB" is not a memory size`, "write 256MB or 2GB"},
		{"hours", hours(&from, &until), "22:15-07:05", "22:15-07:05", "", ""},
		{"hours", hours(&from, &until), "00:00-23:59", "00:00-23:59", "", ""},
		{"hours", hours(&from, &until), "off", "off", "", ""},
		{"hours", hours(&from, &until), "22:15-22:15", "", ` "22:15-22:15" is not a range of hours in UTC`, "write 22:00-07:00, or off"},
		{"hours", hours(&from, &until), "22:15-24:00", "", ` "22:15-24:00" is not a range of hours in UTC`, "write 22:00-07:00, or off"},
		{"hours", hours(&from, &until), "24:00-07:00", "", ` "24:00-07:00" is not a range of hours in UTC`, "write 22:00-07:00, or off"},
		{"day", date(&word), "2026-11-28", "2026-11-28", "", ""},
		{"day", date(&word), "2026-11-31", "", ` "2026-11-31" is not a date`, "write a day such as 2026-11-22"},
		{"choice", choice(&word, "left", "right"), "left", "left", "", ""},
		{"choice", choice(&word, "left", "right"), "Rigth", "", ` "Rigth" is not known`, `did you mean "right"?`},
		{"choice", choice(&word, "left", "right"), "above", "", ` "above" is not known`, "one of left, right"},
		{"flag", flag(&is), "true", "true", "", ""},
		{"flag", flag(&is), "yes", "", ` "yes" is not known`, "one of true, false"},
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

// The schema has its meaning, its kind and unit, its bounds, and its default in this mode and live.
func TestSchemaDescriptions(t *testing.T) {
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
