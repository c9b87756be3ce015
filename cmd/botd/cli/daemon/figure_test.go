package daemon

import "testing"

func TestFiguresAreRoundedToSymbolScales(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, have string }{
		{"333.67", rounded("333.667005086484552069", placesOf("2971.04"))},
		{"60001", rounded("60000.5", placesOf("60000"))},
		{"-", rounded("0", 2)}, {"-", rounded("", 2)},
		{"+0.01", gain("0.0051")}, {"-5.74", gain("-5.7449")}, {"0.00", gain("-0.001")}, {"0.00", gain("0")},
		{"2 min", age(1_000, 121_000)}, {"-", age(0, 5)}, {"3 d", age(1, 3*86_400_000+1)}, {"47 h", age(1, 47*3_600_000+1)},
	} {
		if c.have != c.want {
			t.Errorf("want %s, have %s", c.want, c.have)
		}
	}
	for quantity, want := range map[string]string{"-1.5": "short 1.5", "0.02": "long 0.02", "0": "flat", "0.000": "flat"} {
		if have := positionOf(quantity); have != want {
			t.Errorf("%s: want %s, have %s", quantity, want, have)
		}
	}
	if small := -0.00001; percent(&small) != "0.00 %" {
		t.Errorf("want 0.00 %%, have %s", percent(&small))
	}
	if ratio := 0.0123; percent(&ratio) != "+1.23 %" || away(&ratio) != " (1.2 %)" || percent(nil) != "-" {
		t.Errorf("have %s and%s", percent(&ratio), away(&ratio))
	}
}
