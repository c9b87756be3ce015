package server

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkSignedRequests measures one caller over loopback: requests a second,
// and how long half and 99 of 100 of them take at most.
func BenchmarkSignedRequests(b *testing.B) {
	for _, c := range []struct {
		name, method, target, body string
		state                      bool
	}{
		{"open orders", "POST", "/fhapi/v1/order/open", "{}", false},
		{"place and fill", "POST", "/fhapi/v1/order", buyMarket, false},
		{"place and fill, state file", "POST", "/fhapi/v1/order", buyMarket, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, t := startServer(b, func(config *Config) {
				config.Clock = Clock{StartMS: ManualStartMS}
				if c.state {
					withState(filepath.Join(b.TempDir(), "state"))(config)
				}
			})
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				body := c.body
				if i%2 == 1 {
					body = strings.Replace(body, `"BUY"`, `"SELL"`, 1)
					body = strings.Replace(body, `"qt"`, `"reduceOnly":true,"qt"`, 1)
				}
				began := time.Now()
				a := t.call(c.method, c.target, body)
				took = append(took, time.Since(began))
				if a.status != 200 && a.status != 201 && a.status != 400 { // 400: the position is not there yet
					b.Fatal(fmt.Sprint(a.status, a.body, a.err))
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "req/s")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
		})
	}
}
