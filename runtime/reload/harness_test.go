package reload

import (
	"context"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/strategy"
	"botd/strategy/library"
)

// venue is a simulated exchange whose clock is the test's.
type venue struct {
	mu       sync.Mutex // guards exchange
	exchange *sim.Exchange
}

func (v *venue) ServerNowMS() int64 { return time.Now().UnixMilli() }

func (v *venue) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.exchange.Advance(v.ServerNowMS())
	return v.exchange.Do("one", &request)
}

// memory is a journal that keeps its records in memory, or fails.
type memory struct {
	mu      sync.Mutex // guards all below
	fails   error
	records []record.Record
}

func (m *memory) Append(_ context.Context, records []record.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails == nil {
		m.records = append(m.records, records...)
	}
	return m.fails
}

// audits returns the entries of the audit.
func (m *memory) audits() (lines []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.records {
		if a, is := m.records[i].Body.(record.Audit); is {
			lines = append(lines, a.Actor+" "+a.Action+" ["+a.Object+"]: "+a.Detail)
		}
	}
	return lines
}

// daemon is a running engine with a reloader of the files in a directory.
type daemon struct {
	*Reloader
	t         *testing.T
	directory string
	venue     *venue
	journal   *memory
	logs      *ops.Logs
	read      int // lines of the log that were read
	stop      func()
	loaded    chan struct{}
	omitted   atomic.Pointer[exchange.SymbolKey] // the exchange's list omits this symbol; nil for none
	relisted  atomic.Int64                       // number of reads of the list after the start

	mu     sync.Mutex // guards checks and feeds
	checks []ops.Check
	feeds  []exchange.SymbolKey
}

// one and two are strategies; the text of two buys at once.
const (
	one = "name: one\nstrategy: twap\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: \"@every 1h\"\n" +
		"params: {side: buy, quantity: 0.1, slices: 2, every: 1h}\n"
	two = "name: two\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\nschedule: \"@every 1s\"\nsize: {quantity: 0.01}\n" +
		"on_remove: flatten\n"
	demo = "mode: demo\ndata_dir: ./data\n"
)

// put writes files of a configuration; one without text is removed.
func put(t *testing.T, directory string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(directory, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// start starts a daemon from the files of a directory, in a bubble, with what an earlier one journalled.
func start(t *testing.T, directory string, before []record.Record, own ...strategy.Definition) *daemon {
	t.Helper()
	return startWithout(t, nil, directory, before, own...)
}

// startWithout does the same while the exchange's list omits a symbol.
func startWithout(t *testing.T, omitted *exchange.SymbolKey, directory string, before []record.Record, own ...strategy.Definition) *daemon {
	t.Helper()
	d := &daemon{t: t, directory: directory, journal: &memory{}, logs: ops.NewLogs()}
	d.omitted.Store(omitted)
	table := rest.NewSymbolTable(sim.DefaultSymbols()...)
	listed := func(key exchange.SymbolKey) (*exchange.Symbol, bool) {
		if omitted := d.omitted.Load(); omitted != nil && *omitted == key {
			return nil, false
		}
		return table.Symbol(key)
	}
	options := configs.Options{Registry: strategy.NewRegistry(append(own, library.All()...)...), Symbols: sim.DefaultSymbols()}
	load := func() (*configs.Config, configs.Problems, error) {
		config, problems := configs.LoadDirectory(directory, options)
		return config, problems, nil
	}
	config, problems, err := load()
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: time.Now().UnixMilli()})
	if err == nil {
		err = x.AddAccount(sim.AccountConfig{Name: "one", FuturesUSDT: exchange.AmountOf(100_000), Leverage: 10})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range sim.DefaultSymbols() {
		x.SetMarket(symbol.Key(), sim.Random(1))
	}
	d.venue = &venue{exchange: x}
	tracker := reconcile.NewTracker(engineconfig.Bounds(config))
	for i := range before {
		tracker.Apply(&before[i])
	}
	account, err := engineconfig.Account(config, tracker, listed)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := engine.New(account, tracker)
	if err != nil {
		t.Fatal(err)
	}
	driver := runtime.New(runtime.Config{Machine: machine, Venue: d.venue, Journal: d.journal, Clock: d.venue})
	metrics := ops.NewMetrics("demo", ops.Build{})
	d.Reloader = New(config, Fingerprint(config), load)
	d.Driver, d.Machine, d.Metrics, d.Symbols = driver, machine, metrics, listed
	d.Relist = func(context.Context) error { d.relisted.Add(1); return nil }
	d.Console = ops.NewConsole(io.Discard, ops.Format{JSON: true}, metrics, d.logs)
	d.Report = func(c ops.Check) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.checks = append(d.checks, c)
	}
	d.loaded = make(chan struct{}, 1)
	d.Loaded, d.ReadLoaded = d.loaded, load
	d.Feed = func(key exchange.SymbolKey) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.feeds = append(d.feeds, key)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := driver.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() { d.Run(ctx) })
	d.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	return d
}

// after lets so much time pass and returns what was logged meanwhile: event and message.
func (d *daemon) after(pass time.Duration) string {
	d.t.Helper()
	time.Sleep(pass)
	synctest.Wait()
	var lines []string
	d.logs.Lines(func(all []ops.LogLine) {
		for _, line := range all[d.read:] {
			message := strings.Fields(strings.ReplaceAll(line.Message, d.directory, "DIR"))
			lines = append(lines, line.Event+" "+strings.Join(message, " "))
		}
		d.read = len(all)
	})
	return strings.Join(lines, "\n")
}

// fed returns the symbols whose data were read for new or changed strategies.
func (d *daemon) fed() []exchange.SymbolKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.feeds)
}

// reported is the newest report of the readiness check, and whether the metrics say that the files are in force.
func (d *daemon) reported() (detail string, inForce float64) {
	d.t.Helper()
	families, err := d.Metrics.Registry.Gather()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, family := range families {
		if strings.Contains(family.GetName(), "config") && strings.HasSuffix(family.GetName(), "successful") {
			inForce = family.Metric[0].Gauge.GetValue()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.checks) > 0 {
		last := d.checks[len(d.checks)-1]
		if detail = last.Detail; last.Name != "configuration" || !last.OK {
			d.t.Errorf("want the check of the configuration, and botd ready, have %+v", last)
		}
	}
	return detail, inForce
}

// names returns the strategies of the configuration in force.
func (d *daemon) names() string {
	names := map[string]bool{}
	for _, s := range d.Current.Load().Strategies {
		names[s.Name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), " ")
}

// position returns the size of a futures position.
func (d *daemon) position(name string) exchange.Quantity {
	d.venue.mu.Lock()
	defer d.venue.mu.Unlock()
	p, _ := d.venue.exchange.Position("one", name)
	return p.Signed()
}

// signalsBegin starts the delivery of signals outside of any bubble: what it starts serves the whole process.
var signalsBegin = sync.OnceFunc(func() {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	signal.Stop(hangUps)
})
