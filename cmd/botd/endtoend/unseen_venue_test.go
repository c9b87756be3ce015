package endtoend

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// forged adds to every list of an answer a copy of its first element in which every text has characters that
// forge a terminal's output, and counts them.
func forged(value any, count *atomic.Int64) any {
	switch value := value.(type) {
	case []any:
		if len(value) > 0 {
			if row, is := value[0].(map[string]any); is {
				value = append(value, hostile(row))
				count.Add(1)
			}
		}
		return value
	case map[string]any:
		for name, inner := range value {
			value[name] = forged(inner, count)
		}
		return value
	}
	return value
}

func hostile(row map[string]any) map[string]any {
	row = maps.Clone(row)
	for name, value := range row {
		if text, is := value.(string); is {
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				row[name] = text + unseen
			}
		}
	}
	return row
}

// TestNoEscapeSequenceFromExchangeReachesTerminal uses an exchange that forges rows of every list and
// refuses one strategy's orders with a forged text, and reads the output of every command.
func TestNoEscapeSequenceFromExchangeReachesTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	address := p.free()
	target := &url.URL{Scheme: "http", Host: address}
	var rows, refusals atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	proxy.ModifyResponse = func(r *http.Response) error {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		var value any
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&value) == nil && r.Request.Method == http.MethodGet {
			if text, err = json.Marshal(forged(value, &rows)); err != nil {
				return err
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(text))
		r.ContentLength = int64(len(text))
		r.Header.Set("Content-Length", strconv.Itoa(len(text)))
		return nil
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Method == http.MethodPost && bytes.Contains(body, []byte("ETH-USDT")) && strings.HasSuffix(r.URL.Path, "/order") {
			refusals.Add(1)
			answer, _ := json.Marshal(map[string]any{"code": 1117, "error": "no" + unseen})
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(answer)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	p.live("configs", "forged", strings.TrimPrefix(front.URL, "http://"), "data_dir: ./data\nlisten: off")
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	ether := strings.NewReplacer("name: grow", "name: ether", "BTC-USDT", "ETH-USDT", "1.0", "10", "1000", "100").Replace(grows)
	p.file("configs/strategies/ether.yaml", ether, 0o600)
	p.venue(address, "forged", "--market", "still")
	_, log := p.start("daemon", "run", "--mode", "live", "--log-format", "console")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%d rows, %d refusals\n%s", rows.Load(), refusals.Load(), log)
		}
	})
	eventually(t, "a refusal, and forged rows", func() bool {
		return refusals.Load() > 0 && rows.Load() > 3 && strings.Contains(log.String(), "refused")
	})
	for _, command := range [][]string{
		{"status"}, {"status", "-o", "json"}, {"orders"}, {"orders", "-o", "csv"}, {"positions"}, {"intents"}, {"intents", "-o", "jsonl"}, {"risk"}, {"logs"},
		{"explain", "ether"}, {"ledger"}, {"limits"}, {"reconcile"}, {"plan"}, {"doctor"}, {"check"}, {"journal", "tail"}, {"journal", "export"},
		{"journal", "tail", "-o", "jsonl"}, {"markets", "--base-url", front.URL}, {"markets", "-o", "json", "--base-url", front.URL},
		{"book", "BTC-USDT", "--base-url", front.URL}, {"candles", "BTC-USDT", "--base-url", front.URL},
		{"halt", "--level", "cancel", "--reason", "a test", "--yes"}, {"rearm"},
	} {
		process := exec.Command(self(t), command...)
		process.Dir = p.directory
		text, err := process.CombinedOutput()
		if err != nil && process.ProcessState.ExitCode() == 64 {
			t.Errorf("botd %s is no command: %s", strings.Join(command, " "), text)
		}
		wantSeen(t, "botd "+strings.Join(command, " "), string(text))
	}
	wantSeen(t, "the daemon's log", log.String())
	if have := p.run(0, "journal", "export"); !strings.Contains(have, `u001b[2J`) {
		t.Errorf("want the refusal in the journal, escaped, have none of it")
	}
}
