package chaos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Soak measures the memory of a daemon that trades for hours on a moving market, without
// faults. The exchange is a process of its own, whose memory does not count. Binary and
// Directory are required.
type Soak struct {
	Binary    string // botd
	Directory string // for configuration, data and logs
	For       time.Duration
	Every     time.Duration     // between two measurements; 0 is 20 s
	Warm      time.Duration     // from the start: earlier measurements do not count for the slope
	Progress  func(Measurement) // receives each; nil for none
}

// Measurement is a daemon's use of resources at one moment.
type Measurement struct {
	AtS        float64 `json:"at_s"` // since the start
	Orders     int     `json:"orders"`
	RSSMB      float64 `json:"rss_mb"`
	ProgramMB  float64 `json:"program_mb"` // part of RSSMB: pages of the binary, which the system reclaims when necessary; 0 if unknown
	HeapMB     float64 `json:"heap_mb"`    // in use, garbage included
	CPUS       float64 `json:"cpu_s"`
	Goroutines int     `json:"goroutines"`
}

// SoakReport is the result of a soak.
type SoakReport struct {
	Schema   int           `json:"schema"`
	ElapsedS float64       `json:"elapsed_s"`
	Orders   int           `json:"orders"`
	Rate     float64       `json:"orders_per_s"`
	SlopeMB  float64       `json:"rss_mb_per_hour"`       // after the warm-up, by least squares
	ErrorMB  float64       `json:"rss_mb_per_hour_error"` // its standard error, for autocorrelated measurements
	HeapMB   float64       `json:"heap_mb_per_hour"`      // as SlopeMB
	All      []Measurement `json:"measurements"`
}

// soakStrategies send about five orders a second together: quotes that follow the price on
// both markets, and positions that are opened and closed again.
func soakStrategies() map[string]string {
	const makes = "name: %s\nstrategy: market_making\nmarket: %s\nsymbol: %s\ninterval: 1m\nschedule: '@every 1s'\naccept_loss: true\n" +
		"params: {quantity: %s, max_position: %s, levels: %d, spread: 0.02%%, refresh: 1s, tolerance: 0, filled_delay: 0s}\n"
	const turns = "name: %s\nstrategy: script\nfile: turns.star\nmarket: %s\nsymbol: SOL-USDT\ninterval: 1m\nschedule: '@every 1s'\n"
	return map[string]string{
		"makes-futures-btc.yaml": fmt.Sprintf(makes, "makes-futures-btc", "futures", "BTC-USDT", "0.002", "0.02", 2),
		"makes-futures-eth.yaml": fmt.Sprintf(makes, "makes-futures-eth", "futures", "ETH-USDT", "0.02", "0.2", 1),
		"makes-spot-btc.yaml":    fmt.Sprintf(makes, "makes-spot-btc", "spot", "BTC-USDT", "0.002", "0.02", 1),
		"makes-spot-eth.yaml":    fmt.Sprintf(makes, "makes-spot-eth", "spot", "ETH-USDT", "0.02", "0.2", 1),
		"turns-futures.yaml":     fmt.Sprintf(turns, "turns-futures", "futures"),
		"turns-spot.yaml":        fmt.Sprintf(turns, "turns-spot", "spot"),
		"turns.star":             "def decide(view):\n    return plan(target = quantity(1 if (view.now_ms // 3000) % 2 == 0 else 0))\n",
	}
}

// Run runs the soak. An error is a failure of the soak itself; the report contains the measurements until then.
func (s Soak) Run(ctx context.Context) (report *SoakReport, err error) {
	report = &SoakReport{Schema: 1}
	v, err := startVenue(ctx, s.Binary, filepath.Join(s.Directory, "exchange.log"), "--market", "random", "--seed", "7")
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, v.stop()) }()
	if err := writeLive(s.Directory, "http://"+v.address, &Habits{}, soakStrategies()); err != nil {
		return report, err
	}
	d, err := startDaemon(s.Binary, s.Directory, "")
	if err != nil {
		return report, err
	}
	defer d.kill()
	select {
	case <-d.listening:
	case <-d.ended:
		return report, fmt.Errorf("the daemon ended with exit code %d: %s", d.code(), d.lastLines())
	case <-time.After(startWithin):
		return report, fmt.Errorf("the daemon did not start within %s: %s", startWithin, d.lastLines())
	}
	if s.Every == 0 {
		s.Every = 20 * time.Second
	}
	err = s.measure(ctx, d, report)
	report.sum(s.Warm)
	if err != nil {
		return report, err
	}
	_, err = d.stop()
	return report, err
}

// measure measures until the time is over.
func (s *Soak) measure(ctx context.Context, d *daemon, report *SoakReport) error {
	ticker := time.NewTicker(s.Every)
	defer ticker.Stop()
	for end := time.Now().Add(s.For); time.Now().Before(end); {
		select {
		case <-ticker.C:
		case <-d.ended:
			return fmt.Errorf("the daemon ended by itself with exit code %d: %s", d.code(), d.lastLines())
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		m, err := d.takes(ctx)
		if err != nil {
			return err
		}
		report.All = append(report.All, m)
		if s.Progress != nil {
			s.Progress(m)
		}
	}
	return nil
}

// takes reads a measurement from the daemon's metrics.
func (d *daemon) takes(ctx context.Context) (m Measurement, err error) {
	values, err := d.metrics(ctx)
	const mb = 1 << 20
	m = Measurement{AtS: time.Since(d.started).Seconds(), Orders: int(values["botd_orders_submitted_total"]),
		RSSMB: float64(values["process_resident_memory_bytes"] / mb), HeapMB: float64(values["go_memstats_heap_inuse_bytes"] / mb),
		CPUS: values["process_cpu_seconds_total"], Goroutines: int(values["go_goroutines"])}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.command.Process.Pid)) // not on every system
	if _, found, is := strings.Cut(string(text), "\nRssFile:"); is {
		if kb, err := strconv.ParseFloat(strings.Fields(found)[0], 64); err == nil {
			m.ProgramMB = float64(kb / 1024)
		}
	}
	return m, err
}

// metrics returns the daemon's metrics, each summed over its labels.
func (d *daemon) metrics(ctx context.Context) (values map[string]float64, err error) {
	values = map[string]float64{}
	return values, d.get(ctx, "/metrics", func(body io.Reader) error {
		scanner := bufio.NewScanner(body)
		for scanner.Scan() {
			name, value, found := strings.Cut(scanner.Text(), " ")
			if labels := strings.IndexByte(scanner.Text(), '{'); labels >= 0 { // a label's value may have spaces
				name = scanner.Text()[:labels]
				_, value, found = strings.Cut(scanner.Text(), "} ")
			}
			if number, err := strconv.ParseFloat(value, 64); found && err == nil {
				values[name] += number
			}
		}
		return scanner.Err()
	})
}

// sum derives the slopes and their errors from the measurements.
func (r *SoakReport) sum(warm time.Duration) {
	if len(r.All) == 0 {
		return
	}
	last := &r.All[len(r.All)-1]
	r.ElapsedS, r.Orders = last.AtS, last.Orders
	r.Rate = float64(last.Orders) / last.AtS
	counted := slices.DeleteFunc(slices.Clone(r.All), func(m Measurement) bool { return m.AtS < warm.Seconds() })
	r.SlopeMB, r.ErrorMB = slope(counted, func(m *Measurement) float64 { return m.RSSMB })
	r.HeapMB, _ = slope(counted, func(m *Measurement) float64 { return m.HeapMB })
}

// slope returns the growth of a value per hour, by least squares, and its standard error. Successive
// measurements correlate, such as those between two garbage collections. The error therefore uses the
// effective number of independent measurements, derived from the correlation of successive ones.
func slope(all []Measurement, of func(*Measurement) float64) (perHour, deviation float64) {
	var t, y, tt, ty float64
	n := float64(len(all))
	for i := range all {
		hour, value := all[i].AtS/time.Hour.Seconds(), of(&all[i])
		t, y, tt, ty = t+hour, y+value, tt+float64(hour*hour), ty+float64(hour*value)
	}
	spread := float64(n*tt) - float64(t*t)
	if spread <= 0 {
		return 0, 0
	}
	perHour = (float64(n*ty) - float64(t*y)) / spread
	var squares, next, before float64
	for i := range all {
		off := of(&all[i]) - y/n - float64(perHour*(all[i].AtS/time.Hour.Seconds()-t/n))
		if i > 0 {
			next += float64(off * before)
		}
		squares, before = squares+float64(off*off), off
	}
	if squares == 0 || n < 3 {
		return perHour, 0
	}
	correlation := min(max(next/squares, 0), 0.99)
	return perHour, math.Sqrt(squares / (n - 2) * n / spread * (1 + correlation) / (1 - correlation))
}
