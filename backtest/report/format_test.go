package report

import (
	"testing"
	"time"
)

func TestNumberFormats(t *testing.T) {
	t.Parallel()
	half, loss, small := 0.5, -1_234.567, -0.001
	for _, c := range []struct{ want, have string }{
		{"1,234,567.00", money("1234567")}, {"−1,234.57", money("-1234.567")}, {"123.40", money("123.4")}, {"–", money("much")},
		{"+0.00", gain("0")}, {"+5.00", gain("5")}, {"−5.00", gain("-5")}, {"–", gain("much")},
		{"−1,234.57", number(&loss)}, {"0.00", number(&small)}, {"–", number(nil)},
		{"0.50 %", percent(0.5)}, {"0.50 %", percent(&half)}, {"–", percent((*float64)(nil))}, {"–", percent("0.5")},
		{"+0.50 %", signedPercent(&half)}, {"−1,234.57 %", signedPercent(&loss)}, {"–", signedPercent(nil)},
		{"999,999,999,999,999.00", fixed(999_999_999_999_999, 2)}, {"1e+15", fixed(1e15, 2)}, {"-1e+15", fixed(-1e15, 2)},
		{"1.23457e+20", fixed(1.23456789e20, 2)},
		{"0.12345679", price("0.123456789")}, {"1,234.5", price("1234.5")}, {"–", price("")},
		{"0", count(0)}, {"−1,000", count(-1_000)},
		{"2024-02-29", day(time.Date(2024, 3, 1, 1, 0, 0, 0, time.FixedZone("", 7_200)))},
		{"2024-02-29 23:05", minute(time.Date(2024, 3, 1, 1, 5, 0, 0, time.FixedZone("", 7_200)))},
		{"59 s", span(59 * time.Second)}, {"1 min", span(time.Minute)}, {"1 h 1 min", span(time.Hour + time.Minute + time.Second)},
		{"2 d 3 h", span(51*time.Hour + 40*time.Minute)}, {"1 d 5 min", span(24*time.Hour + 5*time.Minute)}, {"0 s", span(0)},
		{"up", tone("0.1")}, {"down", tone("-0.1")}, {"", tone("0")}, {"", tone("much")}, {"up", tone(0.1)}, {"down", tone(&loss)}, {"", tone((*float64)(nil))},
	} {
		if c.have != c.want {
			t.Errorf("want %q, have %q", c.want, c.have)
		}
	}
	if short := functions["short"].(func(string) string); short("0123456789abcdef") != "0123456789ab" || short("0123") != "0123" {
		t.Errorf("want the first twelve digits of a hash, have %s", short("0123456789abcdef"))
	}
}
