package report_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"botd/backtest"
	"botd/backtest/report"
	"botd/backtest/resultstore"
)

// swept is a sweep over two settings whose best is at fast 10, slow 40: Sharpe decreases by a tenth with each step away from
// there. After the split it is the reverse, or empty.
func swept(unseen bool) *resultstore.Sweep {
	at, lucky := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 1.7
	r := &resultstore.Sweep{Strategy: "<b>trend</b>", Symbol: "BTC-USDT", Interval: "1h", Candles: 1_000, Sort: "sharpe", Search: "grid",
		ExpectedMaxSharpe: &lucky}
	if unseen {
		r.Split = &at
	}
	column := func(sharpe float64) *backtest.Column {
		profit := 10 * sharpe
		return &backtest.Column{Sharpe: &sharpe, Profit: &profit, MaxDrawdown: 5, RoundTrips: 40}
	}
	for away := range 8 {
		for f, fast := range []string{"5", "10", "15"} {
			for s, slow := range []string{"20", "30", "40", "100", "200"} {
				if steps := max(f-1, 1-f) + max(s-2, 2-s); steps == away {
					t := backtest.Trial{Params: map[string]string{"fast": fast, "slow": slow}, Seen: column(1.5 - 0.1*float64(steps))}
					if unseen {
						t.Unseen = column(-1.5 + 0.1*float64(steps))
					}
					r.Trials = append(r.Trials, t)
				}
			}
		}
	}
	return r
}

func sweepPage(t *testing.T, r *resultstore.Sweep) string {
	t.Helper()
	var page bytes.Buffer
	if err := report.WriteSweep(&page, r, nil); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestSweepPageQualifiesBestTrial(t *testing.T) {
	t.Parallel()
	page := sweepPage(t, swept(true))
	for _, want := range []string{
		"Best of 15 tries by sharpe: Sharpe 1.50; the luckiest of 15 without skill would show 1.70: not better than luck; " +
			"on the unseen candles it shows -1.50: it did not persist.",
		"Rank correlation -1.00 over 15 trials: the ranking did not persist",
		// The mean of 1.4 four times and 1.3 four times, the eight nearest of 15.
		"Of the 8 nearest settings 8 earn; their mean Sharpe ratio is 1.35 compared with 1.50 of the best.",
		`title="fast 10, slow 100: mean Sharpe 1.40 of 1, the best 1.40"`,
		"fast across, slow down", "&lt;b&gt;trend", "15 trials by their settings",
	} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "-", "−")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// Values are in the order of numbers: 100 and 200 after 40.
	if !regexp.MustCompile(`(?s)<th scope="row">40</th>.*<th scope="row">100</th>.*<th scope="row">200</th>`).MatchString(page) {
		t.Error("want the values of slow sorted as numbers")
	}
	if policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page); policy == nil ||
		strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "http") {
		t.Errorf("want a policy that allows hashes alone, have %v", policy)
	}
	if size := len(page); size > 100<<10 {
		t.Errorf("15 trials: want at most 100 KB, have %d bytes", size)
	}
}

func TestSweepPageWithoutSplitOmitsUnseenPart(t *testing.T) {
	t.Parallel()
	if page := sweepPage(t, swept(false)); strings.Contains(page, "Before the split") || !strings.Contains(page, "on the candles it was chosen by") {
		t.Error("want no section about the unseen, and the sentence that explains it")
	}
}

// The mean of 1.4 three times and 1.3 four times, without the neighbor that was stopped early.
func TestSweepPageJudgesWholeTrialsAlone(t *testing.T) {
	t.Parallel()
	r := swept(true)
	r.Trials[1].Seen.EndedBy = &backtest.EndedBy{Limit: backtest.Stopped, Text: "drawdown>0.3"}
	r.Trials[2].Unseen.EndedBy = r.Trials[1].Seen.EndedBy
	r.Conclude()
	page := sweepPage(t, r)
	for _, want := range []string{
		"on the unseen candles it shows -1.50: it did not persist; not compared with luck, since 1 of 15 were stopped early (drawdown&gt;0.3).",
		"1 of 15 trials were stopped early: they are ranked last", "over 13 trials", "their mean Sharpe ratio is 1.34 compared with 1.50 of the best"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "-", "−")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for i := range r.Trials {
		r.Trials[i].Seen.EndedBy = r.Trials[1].Seen.EndedBy
	}
	r.Conclude()
	if page = sweepPage(t, r); !strings.Contains(page, "Every trial was stopped early (drawdown&gt;0.3): there is nothing to judge.") ||
		strings.Contains(page, "nearest settings") || strings.Contains(page, "mean Sharpe 1") {
		t.Error("want nothing judged when every trial was stopped early")
	}
}

// Axes with many values are merged, and only the best trials are drawn.
func TestASweepOfManyTrialsHasABoundedPage(t *testing.T) {
	t.Parallel()
	r := swept(true)
	first := r.Trials[0]
	r.Trials = nil
	for i := range 5_000 {
		r.Trials = append(r.Trials, backtest.Trial{Params: map[string]string{"fast": fmt.Sprint(i % 97), "slow": fmt.Sprintf("%.3f", float64(i)/7),
			"stop": fmt.Sprint(i%50, "%")}, Seen: first.Seen, Unseen: first.Unseen})
		sharpe := 1 - float64(i)/5_000
		r.Trials[i].Seen = &backtest.Column{Sharpe: &sharpe, Profit: &sharpe, MaxDrawdown: 5}
	}
	page := sweepPage(t, r)
	if size := len(page); size > 400<<10 {
		t.Errorf("5000 trials: want at most 400 KB, have %d bytes", size)
	}
	if !strings.Contains(page, "4,900 more") || !strings.Contains(page, "0 to 8") {
		t.Error("want 100 trials listed, the others counted, and values put together")
	}
}

// TestASweepsPageInABrowser opens the page, without errors or requests.
func TestASweepsPageInABrowser(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	directory := t.TempDir()
	path := filepath.Join(directory, "sweep.html")
	if err := os.WriteFile(path, []byte(sweepPage(t, swept(true))), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, chromium, "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=3000",
		"--blink-settings=preferredColorScheme=0", "--user-data-dir="+filepath.Join(directory, "user"), "--dump-dom", "file://"+path)
	var messages bytes.Buffer
	command.Stderr = &messages
	dom, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	if !strings.Contains(string(dom), `data-ready="yes"`) || !strings.Contains(string(dom), `data-theme="dark"`) {
		t.Error("want the page's script to end, and the reader's scheme followed")
	}
	if lines := regexp.MustCompile(`CONSOLE[^\n]*`).FindAllString(messages.String(), -1); len(lines) > 0 {
		t.Errorf("the console shows %v", lines)
	}
}
