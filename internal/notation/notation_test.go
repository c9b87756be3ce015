package notation

import (
	"strings"
	"testing"

	"botd/exchange"
)

// A number is read as a person wrote it; otherwise it is refused with a hint.
func TestANumberIsReadAsAPersonWroteIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1", 64)
	for text, want := range map[string]string{
		"0": "0", "7": "7", "+7": "7", "-7": "-7", "0.05": "0.05", " 1.5 ": "1.5", "1e3": "1000", "1E-3": "0.001", "-0.5": "-0.5", long: long,
		"010":   `"010" begins with a zero, which YAML may read as an octal number; write 10`,
		"-010":  `"-010" begins with a zero, which YAML may read as an octal number; write -10`,
		"00":    `"00" begins with a zero, which YAML may read as an octal number; write 0`,
		"00.5":  `"00.5" begins with a zero, which YAML may read as an octal number; write 0.5`,
		"-09":   `"-09" begins with a zero, which YAML may read as an octal number; write -9`,
		"01":    `"01" begins with a zero, which YAML may read as an octal number; write 1`,
		"00a":   `"00a" begins with a zero, which YAML may read as an octal number; write 0a`,
		"0x10":  `"0x10" is not a decimal number; write it as a decimal number`,
		"1_000": `"1_000" is not a number; write it without separators, with a point before the decimals`,
		"1,5":   `"1,5" is not a number; write it without separators, with a point before the decimals`,
		"5%":    `"5%" is a percentage; this value is not a share; write a plain number`, "x": `"x" is not a number; `, "": `"" is not a number; `,
		"1.2.3": `"1.2.3" is not a number; `,
		"1e30":  "1000000000000000000000000000000", "1e31": `"1e31" is out of range; `, "1e-30": "0.000000000000000000000000000001",
		"1e-31": `"1e-31" is out of range; `,
	} {
		value, hint, err := Decimal(text)
		have := value.String()
		if err != nil {
			have = err.Error() + "; " + hint
		}
		if have != want {
			t.Errorf("%q: want %s, have %s", text, want, have)
		}
	}
	if _, _, err := Decimal(long + "1"); err == nil {
		t.Error("65 digits: want them refused")
	}
}

// The maximum is ten years. It is formatted in its largest unit.
func TestADurationIsOfWholeMilliseconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		want  int64
		again string
		wrong string
		hint  string
	}{
		{"0", 0, "0s", "", ""}, {"0s", 0, "0s", "", ""}, {" 500ms ", 500, "500ms", "", ""}, {"1500ms", 1_500, "1500ms", "", ""}, {"90s", 90_000, "90s", "", ""},
		{"60s", 60_000, "1m", "", ""}, {"1h30m", 5_400_000, "90m", "", ""}, {"24h", 86_400_000, "1d", "", ""}, {"1w", 604_800_000, "7d", "", ""},
		{"1.5s", 1_500, "1500ms", "", ""}, {"3653d", 3_653 * 86_400_000, "3653d", "", ""},
		{"3654d", 0, "", `"3654d" is longer than ten years`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
		{"3653d1ms", 0, "", `"3653d1ms" is longer than ten years`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
		{"0.5ms", 0, "", `"0.5ms" is not a duration in whole milliseconds`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
		{"", 0, "", `"" is not a duration in whole milliseconds`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
		{"1y", 0, "", `"1y" is not a duration`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
		{"5s1", 0, "", `"5s1" is not a duration`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
		{"90", 0, "", `"90" is not a duration`, "did you mean 90s?"},
		{"123456789", 0, "", `"123456789" is not a duration`, "did you mean 123456789s?"},
		{"1234567890", 0, "", `"1234567890" is not a duration`, "durations are written 500ms, 90s, 10m, 4h or 30d"},
	} {
		ms, err := Duration(c.text)
		switch {
		case c.wrong == "" && (err != nil || ms != c.want || DurationText(ms) != c.again):
			t.Errorf("%q: want %d, %s, have %d, %s, %v", c.text, c.want, c.again, ms, DurationText(ms), err)
		case c.wrong != "" && (err == nil || err.Error() != c.wrong || DurationHint(c.text) != c.hint || ms != 0):
			t.Errorf("%q: want %q, %q, have %v, %q", c.text, c.wrong, c.hint, err, DurationHint(c.text))
		}
	}
}

func TestQuotedTextIsShortened(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{strings.Repeat("é", 60): strings.Repeat("é", 60), strings.Repeat("é", 61): strings.Repeat("é", 60) + "..."} {
		if have := Shortened(text); have != want {
			t.Errorf("want %s quoted, have %s", want, have)
		}
	}
}

// A refusal is a problem, which continues a sentence, and a hint.
func TestValuesAreReadWithinTheirBounds(t *testing.T) {
	t.Parallel()
	const percent = exchange.RateOne / 100
	whole := func(text string) (any, string, string) {
		n, problem, hint := Whole(text, 2, 9)
		return n, problem, hint
	}
	share := func(text string) (any, string, string) {
		rate, problem, hint := Share(text, percent, 50*percent)
		return Percent(rate), problem, hint
	}
	positive := func(text string) (any, string, string) {
		rate, problem, hint := Share(text, 1, percent)
		return Percent(rate), problem, hint
	}
	units := func(text string) (any, string, string) {
		amount, problem, hint := Units(text)
		return amount.String(), problem, hint
	}
	lasts := func(text string) (any, string, string) {
		ms, problem, hint := DurationWithin(text, 1_000, 60_000)
		return ms, problem, hint
	}
	for _, c := range []struct {
		name          string
		read          func(string) (any, string, string)
		text          string
		want          any
		problem, hint string
	}{
		{"whole", whole, "2", 2, "", ""}, {"whole", whole, "9", 9, "", ""}, {"whole", whole, "1", 0, " 1 is not between 2 and 9", ""},
		{"whole", whole, "10", 0, " 10 is not between 2 and 9", ""},
		{"whole", whole, "2.5", 0, `: "2.5" is not a whole number`, "write a whole number from 2 to 9"},
		{"whole", whole, "x", 0, `: "x" is not a number`, "write a whole number from 2 to 9"},
		{"whole", whole, "010", 0, `: "010" begins with a zero, which YAML may read as an octal number`, "write 10"},
		{"share", share, "1%", "1%", "", ""}, {"share", share, "0.5", "50%", "", ""}, {"share", share, " 5 % ", "5%", "", ""},
		{"share", share, "0.9%", "0%", " 0.9% is below 1%", ""}, {"share", share, "51%", "0%", " 51% is above 50%", ""},
		{"share", share, "5", "0%", " 5 is above 50%", "did you mean 5%?"}, {"share", share, "51", "0%", " 51 is above 50%", ""},
		{"share", share, "x", "0%", `: "x" is not a number`, "write a share, such as 5% or 0.05"},
		{"share", share, "0.123456789", "0%", `: "0.123456789" has more than 8 decimal places or is too large`, "write a share, such as 5% or 0.05"},
		{"share", share, "05%", "0%", `: "05" begins with a zero, which YAML may read as an octal number`, "write 5"},
		{"share above zero", positive, "0.000001%", "0.000001%", "", ""}, {"share above zero", positive, "0%", "0%", " 0% is not above zero", ""},
		{"units", units, "0.5", "0.5", "", ""}, {"units", units, "0", "0", " 0 is not above zero", NoLimitHint},
		{"units", units, "-1", "0", " -1 is not above zero", NoLimitHint},
		{"units", units, "x", "0", `: "x" is not a number`, "write a plain number, such as 0.5"},
		{"units", units, "1,5", "0", `: "1,5" is not a number`, "write it without separators, with a point before the decimals"},
		{"units", units, "0.00000000000000000001", "0", " 0.00000000000000000001 is too large, or has too many decimal places", ""},
		{"duration", lasts, "1s", int64(1_000), "", ""}, {"duration", lasts, "1m", int64(60_000), "", ""},
		{"duration", lasts, "999ms", int64(0), " 999ms is not between 1s and 1m", ""},
		{"duration", lasts, "61s", int64(0), " 61s is not between 1s and 1m", ""},
		{"duration", lasts, "5", int64(0), `: "5" is not a duration`, "did you mean 5s?"},
	} {
		have, problem, hint := c.read(c.text)
		if have != c.want || problem != c.problem || hint != c.hint {
			t.Errorf("%s %q: want %v, %q, %q, have %v, %q, %q", c.name, c.text, c.want, c.problem, c.hint, have, problem, hint)
		}
	}
}
