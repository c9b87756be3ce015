package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// counter is an exchange's replacement: its state is a number, and each change adds one.
type counter struct {
	now   atomic.Uint64
	saved uint64
	calls atomic.Int64
}

func (c *counter) changes(all bool) (change, snapshot []byte, newest uint64, err error) {
	c.calls.Add(1)
	newest = c.now.Load()
	change = fmt.Appendf(nil, "+%d", newest-c.saved)
	c.saved = newest
	if all {
		snapshot = fmt.Append(nil, newest)
	}
	return change, snapshot, newest, nil
}

// sum parses the state.
func sum(t testing.TB, content []byte) uint64 {
	t.Helper()
	s, err := parseState(content)
	if err != nil {
		t.Fatal(err)
	}
	number, err := total(&s)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func total(s *stateContent) (number uint64, err error) {
	if err := json.Unmarshal(s.snapshot, &number); err != nil {
		return 0, err
	}
	for _, change := range s.changes {
		var more uint64
		if _, err := fmt.Sscanf(string(change), "+%d", &more); err != nil {
			return 0, err
		}
		number += more
	}
	return number, nil
}

func newStateTest(t testing.TB) (*stateFile, *counter) {
	t.Helper()
	c := &counter{}
	f := &stateFile{path: filepath.Join(t.TempDir(), "state"), source: c.changes, log: t.Logf, minRewrite: 100}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Error(err)
		}
	})
	return f, c
}

func (c *counter) add(t testing.TB, f *stateFile) {
	t.Helper()
	if err := f.save(c.now.Add(1)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestSimultaneousRequestsShareOneWrite(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	const requests = 64
	var group, arrived sync.WaitGroup
	f.mu.Lock() // a write is in progress while all of them arrive
	arrived.Add(requests)
	for range requests {
		group.Go(func() {
			mine := c.now.Add(1)
			arrived.Done()
			if err := f.save(mine); err != nil {
				t.Error(err)
			}
		})
	}
	arrived.Wait()
	f.mu.Unlock()
	group.Wait()
	if have := c.calls.Load(); have != 1 {
		t.Errorf("want 1 write, have %d", have)
	}
	if have := sum(t, read(t, f.path)); have != requests {
		t.Errorf("want %d, have %d", requests, have)
	}
}

func TestEveryChangeIsInTheFileWhenSaveReturns(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	smallest, largest := 1<<30, 0
	for range 2_000 { // while the file is rewritten again and again
		c.add(t, f)
		content := read(t, f.path)
		if want, have := c.now.Load(), sum(t, content); want != have {
			t.Fatalf("want %d, have %d", want, have)
		}
		smallest, largest = min(smallest, len(content)), max(largest, len(content))
	}
	f.group.Wait()
	if largest > 100_000 {
		t.Errorf("want the file rewritten, have it grow to %d bytes", largest)
	}
}

// A crash may leave any prefix of the last write.
func TestTruncatedFileKeepsCompleteRecords(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	f.minRewrite = 1 << 20
	c.add(t, f)
	ends := map[int]uint64{len(read(t, f.path)): 1} // by the size of the file
	first := len(read(t, f.path))
	for range 5 {
		c.add(t, f)
		ends[len(read(t, f.path))] = c.now.Load()
	}
	content, want := read(t, f.path), uint64(0)
	for cut := 0; cut <= len(content); cut++ {
		if whole, ok := ends[cut]; ok {
			want = whole
		}
		if cut < first {
			if _, err := parseState(content[:cut]); err == nil {
				t.Errorf("cut at %d of the snapshot: want an error, have none", cut)
			}
			continue
		}
		for _, tail := range []string{"", "\x00\x00\x00", "\x00\n"} {
			_, whole := ends[cut]
			if tail == "\x00\n" && whole {
				continue // a separate line, tested below
			}
			if have := sum(t, append(content[:cut:cut], tail...)); have != want {
				t.Errorf("cut at %d, then %q: want %d, have %d", cut, tail, want, have)
			}
		}
	}
}

// The file is rewritten when its changes are larger than its snapshot and the minimum.
func TestTheFileDoesNotGrowWithItsHistory(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	largest := 0
	for range 200 {
		c.add(t, f)
		f.group.Wait()
		content := read(t, f.path)
		largest = max(largest, len(content))
		if have := sum(t, content); have != c.now.Load() {
			t.Fatalf("want %d, have %d", c.now.Load(), have)
		}
	}
	// It consists of the title, a snapshot of up to 13 bytes, and changes of 12 bytes until they are 100.
	if most := len(stateTitle) + 13 + 100 + 12; largest > most || largest < 100 {
		t.Errorf("want %d bytes at most, and 100 reached, have %d", most, largest)
	}
}

// After a power failure a page of it may contain zeros.
func TestUnwrittenLastRecordIsSkipped(t *testing.T) {
	t.Parallel()
	whole := appendRecord(appendRecord([]byte(stateTitle), []byte("5")), []byte("+1"))
	for _, tail := range []string{"\x00\x00\x00\n", "0000\x00\n", "12345678 +", "1", "\x00"} {
		s, err := parseState(append(slices.Clone(whole), tail...))
		if err != nil || s.torn != len(tail) || string(s.snapshot) != "5" || len(s.changes) != 1 {
			t.Errorf("%q: want it left out, have %+v and %v", tail, s, err)
		}
	}
	for _, content := range []string{
		stateTitle, stateTitle + "\x00\n", stateTitle + "12345678 5\n", string(whole) + "12345678 +1\n", string(whole) + "\x00\n\x00\n", "another title\n",
		string(whole) + "\n",
	} {
		if s, err := parseState([]byte(content)); err == nil {
			t.Errorf("%q: want an error, have %+v", content, s)
		}
	}
	if s, err := parseState([]byte(`{"Schema":1}`)); err != nil || string(s.snapshot) != `{"Schema":1}` || s.torn != 0 {
		t.Errorf("want a snapshot alone read, as versions before 2 wrote it, have %+v and %v", s, err)
	}
}

func TestDamageOtherThanAnIncompleteWriteIsRefused(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	for range 4 {
		c.add(t, f)
	}
	content := read(t, f.path)
	for at := range content[:len(content)-1] {
		spoiled := bytes.Clone(content)
		spoiled[at] ^= 0x15
		if _, err := parseState(spoiled); err == nil && spoiled[at] != 0 {
			t.Errorf("byte %d changed from %q to %q: want an error, have none", at, content[at], spoiled[at])
		}
	}
	for _, text := range []string{"", "something else", stateTitle, stateTitle + "00000000 1\n"} {
		if _, err := parseState([]byte(text)); err == nil || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%q: want an error with a hint, have %v", text, err)
		}
	}
}

func TestAFailedWriteIsReportedAndTheOldStateStays(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	c.add(t, f)
	if err := errors.Join(f.file.Close(), os.Mkdir(f.path+newSuffix, 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.save(c.now.Add(1)); err == nil {
			t.Error("want an error, have none")
		}
	}
	if have := sum(t, read(t, f.path)); have != 1 {
		t.Errorf("want the old state 1, have %d", have)
	}
	if err := os.Remove(f.path + newSuffix); err != nil {
		t.Fatal(err)
	}
	c.add(t, f)
	c.add(t, f)
	if want, have := c.now.Load(), sum(t, read(t, f.path)); want != have {
		t.Errorf("want the new state %d, have %d", want, have)
	}
}

func TestFailedWriteDuringRewriteKeepsState(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	for range 500 {
		if c.now.Load()%7 == 3 {
			f.mu.Lock()
			if err := f.file.Close(); err != nil {
				t.Fatal(err)
			}
			f.mu.Unlock()
			c.now.Add(1)
			_ = f.save(c.now.Load()) // fails unless the new file was installed in between
		}
		c.add(t, f)
		if want, have := c.now.Load(), sum(t, read(t, f.path)); want != have {
			t.Fatalf("want %d, have %d", want, have)
		}
	}
}

func TestAFileThatCannotBeRewrittenStaysInUse(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	c.add(t, f)
	if err := os.Mkdir(f.path+rewriteSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		c.add(t, f)
	}
	f.group.Wait()
	if want, have := c.now.Load(), sum(t, read(t, f.path)); want != have {
		t.Errorf("want %d, have %d", want, have)
	}
}

func TestOnlyOneExchangeUsesAStateFile(t *testing.T) {
	t.Parallel()
	f, c := newStateTest(t)
	c.add(t, f)
	other := &stateFile{path: f.path, log: t.Logf}
	if _, err := other.open(); err == nil || !strings.Contains(err.Error(), "another exchange uses it") {
		t.Errorf("want an error, have %v", err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if content, err := other.open(); err != nil || string(content.snapshot) != "1" {
		t.Errorf("want the state, have %q %v", content.snapshot, err)
	}
	if err := other.close(); err != nil {
		t.Error(err)
	}
}

func TestStateWithoutPathIsNotStored(t *testing.T) {
	t.Parallel()
	var f stateFile
	if err := f.save(1); err != nil {
		t.Error(err)
	}
	if content, err := f.open(); content.snapshot != nil || err != nil {
		t.Errorf("want nothing, have %q %v", content.snapshot, err)
	}
}

// BenchmarkPlacementWithState measures a placement and its write after that many orders.
func BenchmarkPlacementWithState(b *testing.B) {
	for _, before := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			s := newServer(b, withState(filepath.Join(b.TempDir(), "state")))
			defer s.state.close()
			handler := &handlerTrader{b, s}
			for range before {
				handler.placeAndCancel()
			}
			if err := s.save(); err != nil {
				b.Fatal(err)
			}
			var longest time.Duration
			for b.Loop() {
				began := time.Now()
				handler.placeAndCancel()
				if err := s.save(); err != nil {
					b.Fatal(err)
				}
				longest = max(longest, time.Since(began))
			}
			b.ReportMetric(float64(longest.Microseconds()), "longest-us")
		})
	}
}

// handlerTrader calls a server's exchange without HTTP.
type handlerTrader struct {
	testing.TB
	*Server
}

func (h *handlerTrader) placeAndCancel() {
	price, _ := h.exchange.Symbol(bitcoin).Price(decimal.NewFromInt(40_000))
	placed, err := h.exchange.Do(testKey, &exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 1, Price: price,
	}})
	if err != nil {
		h.Fatal(err)
	}
	if _, err := h.exchange.Do(testKey, &exchange.Request{Operation: exchange.FuturesCancel, OrderID: placed.Order.ID}); err != nil {
		h.Fatal(err)
	}
	h.exchange.Advance(h.exchange.NowMS() + 10)
}
