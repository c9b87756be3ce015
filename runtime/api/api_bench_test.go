package api

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// BenchmarkAnswersUnderTwentyTabs reads the overview while twenty streams follow
// 100 strategies, all of which change with every status, four times a second as
// the daemon draws them.
func BenchmarkAnswersUnderTwentyTabs(b *testing.B) {
	for _, path := range []string{"status", "strategies", "orders?state=all", "intents", "positions", "risk", "logs"} {
		b.Run(path, func(b *testing.B) { answers(b, "/api/v1/"+path) })
	}
}

func answers(b *testing.B, path string) {
	d := newDesk(b)
	status := crowd(b, d)
	address, _ := d.serve()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	defer client.CloseIdleConnections()
	for range 20 {
		l := listen(b, address, "", "")
		go func() {
			for {
				if _, ended := l.next(); ended {
					return
				}
			}
		}()
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				status.NowMS += 250
				for i := range status.Strategies {
					status.Strategies[i].Last += exchange.Price(i)
				}
				d.board.Show(status)
			}
		}
	}()
	var took []time.Duration
	var size int64
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		request, err := http.NewRequest(http.MethodGet, address+path, nil)
		if err != nil {
			b.Fatal(err)
		}
		bearer(viewerToken)(request)
		response, err := client.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		if size, err = io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			b.Fatalf("%s: %s, %v", path, response.Status, err)
		}
		response.Body.Close()
		took = append(took, time.Since(began))
	}
	close(stop)
	<-stopped
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(size)/1024, "KiB")
}

// crowd fills a desk with 100 strategies and a thousand orders, intents and lines.
func crowd(t testing.TB, d *desk) engine.Status {
	s := d.status
	s.Strategies, s.Symbols, s.Live = nil, nil, nil
	for i := range 100 {
		symbol := newSymbol(exchange.Futures, fmt.Sprint("C", i, "-USDT"))
		s.Strategies = append(s.Strategies, engine.StrategyStatus{Name: fmt.Sprint("s", i), Kind: "sma_cross", Symbol: symbol, Interval: exchange.Minute1,
			State: "running", PlanReason: "the fast average is above the slow one",
			Position: 20, EntryPrice: enginetest.Amount(t, "50000"), Last: enginetest.Price(t, symbol, "50100"), LastMS: s.NowMS})
		s.Symbols = append(s.Symbols, engine.SymbolStatus{Key: symbol.Key(), Rules: symbol, Owner: fmt.Sprint("s", i), Position: 20, Known: 20,
			Last: enginetest.Price(t, symbol, "50100")})
	}
	d.board.Show(s)
	for i := range 1_000 {
		d.take(sending(int64(i), fmt.Sprint("o", i)), record.Record{AtMS: int64(i), ClientOrderID: fmt.Sprint("o", i),
			Body: record.Ended{State: placement.Filled, Filled: 30}})
		d.board.Note(&engine.Note{Strategy: "s1", Symbol: bitcoin, Fact: engine.NoteIntent{Intent: &reconcile.Intent{Strategy: "s1", Reason: "a reason"}}})
		if _, err := d.logs.Write([]byte(`{"level":"info","time":"2026-01-01T00:00:00Z","event":"order.fill","msg":"fill"}`)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// BenchmarkPublish measures what an event costs the engine's goroutine with
// twenty streams open.
func BenchmarkPublish(b *testing.B) {
	d := newDesk(b)
	address, _ := d.serve()
	for range 20 {
		l := listen(b, address, "", "")
		go func() {
			for {
				if _, ended := l.next(); ended {
					return
				}
			}
		}()
	}
	content := view.PositionChange{AtMS: 1, Strategy: "trend", Market: "futures", Symbol: "BTC-USDT", Quantity: "0.02", EntryPrice: "50000", Last: "50100"}
	b.ReportAllocs()
	for b.Loop() {
		d.server.stream.Publish("position", content)
	}
}

// BenchmarkShow measures what drawing 100 strategies costs the engine's goroutine.
func BenchmarkShow(b *testing.B) {
	d := newDesk(b)
	status := crowd(b, d)
	b.ReportAllocs()
	for b.Loop() {
		status.NowMS += 250
		for i := range status.Strategies {
			status.Strategies[i].Last++
		}
		d.board.Show(status)
	}
}
