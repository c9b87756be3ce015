package server

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSignedRequests measures one caller over loopback: requests a second, median latency and 99th
// percentile.
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
				config.Clock = Clock{StartMS: manualStartMS}
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

// BenchmarkSignedRequestsOfManyCallers measures the server's capacity: eight callers with their own
// connections sign each request and write it to the socket directly. cpu-us is the processor time of one
// request, for both ends together: other programs on the machine hardly change it.
func BenchmarkSignedRequestsOfManyCallers(b *testing.B) {
	for _, c := range []struct{ name, method, target, body string }{
		{"open orders", "POST", "/fhapi/v1/order/open", "{}"},
		{"account", "GET", "/fhapi/v1/margin/account", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, t := startServer(b, func(config *Config) { config.Clock = Clock{StartMS: manualStartMS} })
			const callers = 8
			took := make([][]time.Duration, callers)
			var group sync.WaitGroup
			began, used := time.Now(), processorTime(b)
			for caller := range callers {
				group.Go(func() { took[caller] = t.callWithoutClient(b, c.method, c.target, c.body, b.N/callers+1) })
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

// callWithoutClient sends signed requests over one connection and returns how long each took.
func (c *trader) callWithoutClient(b *testing.B, method, target, body string, count int) []time.Duration {
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		b.Error(err)
		return nil
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	took := make([]time.Duration, 0, count)
	var out []byte
	for range count {
		header := c.sign(method, target, body, c.nowMS())
		out = fmt.Appendf(out[:0], "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nx-api-key: %s\r\nx-timestamp: %s\r\nx-signature: %s\r\n\r\n%s",
			method, target, len(body),
			header.Get("x-api-key"), header.Get("x-timestamp"), header.Get("x-signature"), body)
		began := time.Now()
		if _, err := conn.Write(out); err != nil {
			b.Error(err)
			return took
		}
		if status, err := readReply(reader); err != nil || status != '2' {
			b.Errorf("status %c..., %v", status, err)
			return took
		}
		took = append(took, time.Since(began))
	}
	return took
}

// readReply reads one answer and returns the first digit of its status.
func readReply(reader *bufio.Reader) (status byte, err error) {
	length := 0
	for first := true; ; first = false {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if first && len(line) > 9 {
			status = line[9]
		}
		if value, found := bytes.CutPrefix(line, []byte("Content-Length: ")); found {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
		if len(line) == 2 {
			_, err = reader.Discard(length)
			return status, err
		}
	}
}

// processorTime is the time this process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
