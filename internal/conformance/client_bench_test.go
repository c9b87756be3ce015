package conformance

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"botd/exchange"
)

// BenchmarkSignedClientOverLoopback measures both ends together: the typed client signs, the server checks,
// executes and answers, the client decodes. Eight callers share one client. cpu-us is the processor time of
// one request, for both ends; other programs on the machine hardly change it.
func BenchmarkSignedClientOverLoopback(b *testing.B) {
	for _, c := range []struct {
		name    string
		request exchange.Request
	}{
		{"open orders", exchange.Request{Operation: exchange.FuturesOpenOrders}},
		{"account", exchange.Request{Operation: exchange.FuturesAccount}},
		{"candles 1500", exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1, Limit: 1500}},
	} {
		b.Run(c.name, func(b *testing.B) {
			v := benchVenue(b)
			client, err := v.client("alice")
			if err != nil {
				b.Fatal(err)
			}
			ask := func() time.Duration {
				began := time.Now()
				if _, err := client.Do(b.Context(), c.request); err != nil {
					b.Error(err)
				}
				return time.Since(began)
			}
			ask() // symbols and clock are fetched once
			const callers = 8
			took := make([][]time.Duration, callers)
			var group sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			began, used := time.Now(), processorTime(b)
			for caller := range callers {
				group.Go(func() {
					for range b.N/callers + 1 {
						took[caller] = append(took[caller], ask())
					}
				})
			}
			group.Wait()
			elapsed, all := time.Since(began), slices.Concat(took...)
			used = processorTime(b) - used
			slices.Sort(all)
			b.ReportMetric(float64(len(all))/elapsed.Seconds(), "req/s")
			b.ReportMetric(float64(used.Microseconds())/float64(len(all)), "cpu-us")
			b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-us")
		})
	}
}

// benchVenue serves an exchange with two days of candles.
func benchVenue(b *testing.B) *served {
	venue, err := overHTTP(World{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := venue.Close(); err != nil {
			b.Error(err)
		}
	})
	if err := venue.Advance(2 * int64(exchange.Day1)); err != nil {
		b.Fatal(err)
	}
	return venue.(*served)
}

// processorTime returns the time that this process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
