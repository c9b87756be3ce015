package daemon

import (
	"bytes"
	"strings"
	"testing"

	"botd/runtime/ops"
)

// TestOpenItemsAreLoggedOnlyAfterRead keeps an early end from reporting that nothing is open.
func TestOpenItemsAreLoggedOnlyAfterRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left []string
		read bool
		want []string
	}{
		{nil, true, []string{"nothing is left open"}},
		{[]string{"position futures BTC-USDT 0.1"}, true, []string{"left open position futures BTC-USDT 0.1", "the next start picks these up"}},
		{nil, false, []string{"before orders and positions were read"}},
	} {
		var output bytes.Buffer
		logLeftOpen(ops.NewConsole(&output, ops.Format{}, ops.NewMetrics("demo", ops.Build{}), nil), c.left, c.read)
		for _, want := range c.want {
			if !strings.Contains(output.String(), want) {
				t.Errorf("%v left, read %v: want %q logged, have %s", c.left, c.read, want, output.String())
			}
		}
		if !c.read && strings.Contains(output.String(), "nothing is left open") {
			t.Errorf("not read: want nothing claimed, have %s", output.String())
		}
	}
}
