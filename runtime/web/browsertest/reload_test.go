package browsertest

import (
	"os"
	"path/filepath"
	"testing"
)

// put writes a file of the configuration, or removes it.
func (d *daemon) put(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.directory, "configs", name)
	err := os.Remove(path)
	if text != "" {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// TestStrategiesComeAndGo adds a strategy to a running daemon, and removes it. An open page shows it, and
// then no longer.
func TestStrategiesComeAndGo(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	v.visit("/strategies")
	v.until("the others are shown", shows+`("accumulate") && !`+shows+`("newcomer")`)
	d.put("strategies/newcomer.yaml", "name: newcomer\nstrategy: rsi\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\nsize: {quantity: 0.001}\n")
	d.ask("POST", "/api/v1/config/reload", "", nil)
	v.until("the new one is shown", shows+`("newcomer") && `+shows+`("accumulate")`)
	v.shoot("dark a strategy came")
	d.put("strategies/newcomer.yaml", "")
	d.until("it may go", func() bool {
		var answer struct{ Does []string }
		d.ask("POST", "/api/v1/config/reload", "", &answer)
		return len(answer.Does) > 0
	})
	v.until("it is gone", `!`+shows+`("newcomer") && `+shows+`("accumulate")`)
	v.quiet("strategies that come and go")
}

// TestALimitThatAPersonSet expects it on the risk page with its author and reason.
func TestALimitThatAPersonSet(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	v.visit("/risk")
	v.until("limits are shown", shows+`("Limits")`)
	d.ask("PUT", "/api/v1/risk/limits", `{"limits":{"max_open_orders":"50"},"reason":"economic data tonight"}`, nil)
	v.until("it is shown who set it", shows+`("economic data tonight") && `+shows+`("tightened by socket")`)
	for _, l := range []viewport{dark, light, phone} {
		v.show(l)
		v.fits("a limit set, " + l.name)
		v.accessible("a limit set, " + l.name)
		v.shoot(l.name + " a limit set")
	}
	v.quiet("a limit set")
}
