package script

import (
	"strings"
	"testing"

	"botd/exchange"
)

func TestTextsAreFormattedAsInPython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, want string }{
		{`"%.2f|%8.1f|%-8d|%05d|%+.0f|%s|%5s|%%" % (close, close, 7, 42, close, "a", "b")`, "101.30|   101.3|7       |00042|+101|a|    b|%"},
		{`"%g %d %x" % (0.5, close, 255)`, "0.5 101 ff"},
		{`"%s" % close`, "101.3"},
		{`"%(a)s" % {"a": 1}`, "1"},
		{`"%.1f" % 2`, "2.0"},
		{`"{:.2f} {} {:>6d}|{:<4}|{:+.1f} {:.1%}".format(close, "x", 12, "a", 3, 0.256)`, "101.30 x     12|a   |+3.0 25.6%"},
		{`"{1:.1f} {0} {name:.3g} {{}}".format("a", 2, name = close)`, "2.0 a 101 {}"},
		{`"{} {}".format(close, 1)`, "101.3 1"},
		{`"{!r}".format("a")`, `"a"`}, // Starlark's own
		{`"{:.4}|{:.3}|{:.2}".format(close, 1234.5678, "abc")`, "101.3|1.23e+03|ab"},
		{`"{:5}|{:5}|{:>5}|{:<5}|{:05}".format("ab", 7, "ab", 7, 7)`, "ab   |    7|   ab|7    |00007"},
		{`"{:>10}".format(12345678)`, "  12345678"},
		{`"%100d" % 7`, strings.Repeat(" ", 99) + "7"}, {`"%.100f" % 0`, "0." + strings.Repeat("0", 100)},
		{`"%5d" % float(4611686018427387904)`, "4611686018427387904"},
		{`7 % 4`, "3"},
	} {
		s := written(t, exchange.Futures, nil, "def decide(view):\n    print("+c.expression+")")
		if have := newWorld(setting(t, exchange.Futures)).close(s, 101.3).Reason; have != c.want {
			t.Errorf("%s: want %q, have %q", c.expression, c.want, have)
		}
	}
}

// Such texts are found when the script is loaded, on a branch that no rehearsal reaches.
func TestTextsThatCannotBeFormatted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, want string }{
		{`"%y" % close`, `my.star:4:20: "%y": unknown conversion %y`},
		{`"100% sure %g" % (close,)`, "takes 2 values, not 1"},
		{`"%g %g" % (close, high, low)`, "takes 2 values, not 3"},
		{`"%999d" % 3`, "a width is at most 100"}, {`"%101d" % 3`, "a width is at most 100"}, {`"%.101f" % 3`, "a width is at most 100"},
	} {
		_, err := Compile("my.star", []byte("def decide(view):\n    if view.equity < 0:\n        print(1)\n        print("+c.expression+")\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", c.expression, c.want, err)
		}
	}
	for _, c := range []struct{ expression, want string }{
		{`"%.2f" % "x"`, "formats a number, not a string"}, {`"%5d" % float(9223372036854775808)`, "formats an integer"},
		{`"%5d" % float(-9223372036854775808)`, "formats an integer"}, {`"%5d" % close[9]`, "formats an integer"},
		{`("%g" + " %g") % close`, "takes 2 values, not 1"},
		{`"{:^9}".format(close)`, "is not supported"},
		{`"{:.1f} {}".format(close)`, "no value for {1}"},
	} {
		compiled, err := Compile("my.star", []byte("def decide(view):\n    print("+c.expression+")\n"))
		if err == nil {
			_, err = compiled.Definition().New(setting(t, exchange.Futures), nil)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", c.expression, c.want, err)
		}
	}
}
