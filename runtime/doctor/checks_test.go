package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime/api/client"
)

func TestExistingParentIsTheNearest(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for path, want := range map[string]string{directory: directory, filepath.Join(directory, "a", "b"): directory, "/absent-here/x": "/", "absent-here": "."} {
		if have := existing(path); have != want {
			t.Errorf("%s: want %s, have %s", path, want, have)
		}
	}
}

func TestSyncIsTimedWithoutATrace(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if took, err := timeSync(directory); err != nil || took <= 0 || took > time.Minute {
		t.Errorf("want some time, have %s (%v)", took, err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("want no file left behind, have %v (%v)", left, err)
	}
	if took, err := timeSync(filepath.Join(directory, "absent")); err == nil || took != 0 {
		t.Errorf("no directory: want an error, have %s", took)
	}
}

func TestJournalIsExamined(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct {
		name        string
		key         bool // of the journal
		root        string
		spoil       func(path string) error
		state, what string
		remedy      string
	}{
		{"sound", false, demo, nil, StateOK, "2 records, the chain is intact; it proves ", ""},
		{"keyed", true, demo + "journal_key_file: KEY\n", nil, StateOK, "2 records, the chain is intact", ""},
		{"keyed, and no key", true, demo, nil, StateFail, "keyed from record 1 on, and no key is configured", "set journal_key_file in botd.yaml"},
		{"no key file", false, demo + "journal_key_file: /absent/key\n", nil, StateFail, "/absent/key", ""},
		{"cut off", false, demo, func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("torn ", 1_000)), 0o600) }, StateFail,
			"journal.db", "botd restore FILE"},
		{"changed", false, demo, func(path string) error {
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				return err
			}
			_, err = db.Exec("UPDATE record SET body = replace(body, '2', '3') WHERE sequence = 2")
			return errors.Join(err, db.Close())
		}, StateFail, "1 problem in 1 record; the first: record 2: ", "botd journal verify lists them; do not trade on it"},
		{"no data directory", false, demo, func(path string) error {
			data := filepath.Dir(filepath.Dir(path))
			if err := os.RemoveAll(data); err != nil {
				return err
			}
			return os.WriteFile(data, nil, 0o600)
		}, StateFail, "", "set data_dir in botd.yaml to a directory that botd may write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "")
			file := filepath.Join(h.directory, "key")
			write(t, file, secret+"\n")
			h.root = strings.ReplaceAll(c.root, "KEY", file)
			var key *journal.Key
			if c.key {
				key = journal.NewKey([]byte(secret))
			}
			path := h.data("demo", journal.FileName)
			store, err := journal.Open(t.Context(), path, journal.Binding{Mode: "demo"}, journal.Options{Key: key, BeginKey: c.key})
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Append(t.Context(), []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1}}, {AtMS: 2, Body: record.Boot{Epoch: 2}}}); err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				if err := c.spoil(path); err != nil {
					t.Fatal(err)
				}
			}
			d := h.examine(t)
			expect(t, d, "journal", c.state, c.what, c.remedy)
			if blocked := c.name == "no data directory"; blocked {
				expect(t, d, "disk", StateFail, "", "set data_dir in botd.yaml to a directory")
				without(t, d, "disk", StateOK)
			}
			if d.OK != (c.state == StateOK) {
				t.Errorf("want ok %t, have %+v", c.state == StateOK, d)
			}
		})
	}
}

// venue returns the address of a simulated venue whose clock is fast by so much. It does not trade SOL-USDT, and a
// signature covers time, method and path.
func venue(t *testing.T, fast time.Duration) string {
	t.Helper()
	start := time.Now().Add(fast).UnixMilli()
	symbols := sim.DefaultSymbols()
	for i, symbol := range symbols {
		if symbol.Name == "SOL-USDT" {
			closed := *symbol
			closed.Tradable = false
			symbols[i] = &closed
		}
	}
	x, err := sim.New(sim.Config{Symbols: symbols, StartMS: start})
	if err != nil {
		t.Fatal(err)
	}
	made, err := server.New(server.Config{Exchange: x, Clock: server.Clock{StartMS: start},
		Signer: wire.Signer{Template: "{timestamp}{method}{path}", Encoding: "base64"}, Accounts: []server.Account{{Key: "key", Secret: "secret"}}})
	if err != nil {
		t.Fatal(err)
	}
	serving := httptest.NewServer(made.Handler())
	t.Cleanup(serving.Close)
	return serving.URL
}

const settled = "settle: {window: 5s, visibility: 1s, staleness: 2s}"

func TestVenueIsExamined(t *testing.T) {
	t.Parallel()
	symbols := fmt.Sprintf("%d symbols", len(sim.DefaultSymbols()))
	for _, c := range []struct {
		name   string
		fast   time.Duration
		secret string // empty for no files
		mode   string
		trades []string
		want   []finding
	}{
		{"paper", 0, "", "paper", []string{"futures BTC-USDT", "spot ETH-USDT"}, []finding{
			{"venue", StateOK, " answers, its public data can be read; " + symbols + ", read in ", ""},
			{"clock", StateOK, "from the venue's, within ", ""}}},
		{"live", 0, "secret", "live", []string{"futures BTC-USDT"}, []finding{{"venue", StateOK, " answers, it accepts key and signature; " + symbols, ""},
			{"permissions", StateOK, "key and secret are readable only by their owner", ""}}},
		{"live with a wrong secret", 0, "other", "live", []string{"futures BTC-USDT"}, []finding{{"venue", StateFail, "", "check key_file, secret_file"}}},
		{"live without keys", 0, "", "live", []string{"futures BTC-USDT"}, []finding{
			{"venue", StateWarn, "without keys only public data can be tested", "see permissions"},
			{"permissions", StateFail, "key", ""}, {"venue", StateOK, "its public data can be read", ""}}},
		{"an unknown symbol", 0, "", "paper", []string{"futures BTC-USDT", "spot DOGE-USDT"}, []finding{{"venue", StateFail,
			"s1: the venue has no spot symbol DOGE-USDT", "botd markets lists them"}}},
		{"a symbol that is not traded", 0, "", "paper", []string{"futures SOL-USDT"}, []finding{{"venue", StateWarn,
			"s0: the venue does not trade futures SOL-USDT now", "nothing opens until the venue trades it again"}}},
		{"a clock 10 s off", 10_500 * time.Millisecond, "", "paper", []string{"futures BTC-USDT"}, []finding{{"clock", StateWarn,
			"this machine's clock is off by 10.", "timedatectl set-ntp true"}}},
		{"a clock 10 s off, the other way", -10 * time.Second, "", "paper", []string{"futures BTC-USDT"}, []finding{{"clock", StateWarn,
			"this machine's clock is off by -", "timedatectl set-ntp true"}}},
		{"a clock 10 min off", 10*time.Minute + 30*time.Second, "", "paper", []string{"futures BTC-USDT"}, []finding{{"clock", StateFail,
			"this machine's clock is off by 10m", "timedatectl set-ntp true"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "")
			h.trades = c.trades
			url := venue(t, c.fast)
			h.root = fmt.Sprintf("mode: %s\nlisten: off\nexchange:\n  base_url: %s\n  %s\n", c.mode, url, settled)
			if c.mode == "live" {
				h.root += fmt.Sprintf("  key_file: %[1]s/key\n  secret_file: %[1]s/secret\n"+
					"  signature: {payload: '{timestamp}{method}{path}', encoding: base64}\n", h.directory)
			}
			if c.secret != "" {
				write(t, filepath.Join(h.directory, "key"), "key")
				write(t, filepath.Join(h.directory, "secret"), c.secret)
			}
			d := h.examine(t)
			for _, f := range c.want {
				expect(t, d, f.Check, f.State, f.What, f.Remedy)
			}
			if !slices.ContainsFunc(c.want, func(f finding) bool { return f.Check == "venue" && f.State != StateOK }) {
				without(t, d, "venue", StateWarn)
				without(t, d, "venue", StateFail)
			}
		})
	}
}

func TestVenueThatDoesNotAnswerFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "mode: paper\nlisten: off\nexchange:\n  base_url: http://127.0.0.1:1\n  "+settled+"\n")
	d := h.examine(t)
	expect(t, d, "venue", StateFail, "reach http://127.0.0.1:1", "is the address right, and the exchange up?")
	without(t, d, "clock", StateOK)
	expect(t, d, "profile", StateOK, `"{timestamp}{method}{path}{body}" signed in hex, of the full path; null for a list: error; noise of numbers: float; `+
		`0 status words; W 5000 ms, D 1000 ms, L 2000 ms; futures: set in the configuration`, "")
}

// answering returns a daemon that a server plays, and its address.
func answering(t *testing.T, answers map[string]string) (func(context.Context) (*client.Daemon, error), string) {
	t.Helper()
	played := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintln(w, text)
	}))
	t.Cleanup(played.Close)
	address := played.Listener.Addr().String()
	return client.Search{Listen: address}.Find, address
}

func TestDaemonIsExamined(t *testing.T) {
	t.Parallel()
	const health, status, config = "/healthz", "/api/v1/status", "/api/v1/config"
	own := `"version":"","mode":"demo","started":"2026-01-02T03:04:05Z"`
	for _, c := range []struct {
		name    string
		answers map[string]string
		named   bool // the user named the address
		want    []finding
	}{
		{"ready", map[string]string{health: "{}", status: `{` + own + `,"ready":true,"checks":[{"name":"journal","ok":true}]}`,
			config: `{"hash":"HASH"}`}, false,
			[]finding{{"daemon", StateOK, "it has been running since 2026-01-02 03:04:05, mode demo, and is ready", ""}}},
		{"not ready", map[string]string{health: "{}", status: `{` + own + `,"checks":[{"name":"venue","ok":false,"detail":"blind"}]}`,
			config: `{"hash":"HASH"}`}, false,
			[]finding{{"daemon", StateFail, "ADDRESS is not ready: venue blind", "see botd status and the log"}}},
		{"degraded", map[string]string{health: "{}", status: `{` + own + `,"ready":true,"degraded":[{"state":"latch","scope":"s0","cause":"stops failed",` +
			`"remedy":"botd resume","since":"2026-01-02T04:05:06Z"}]}`, config: `{"hash":"HASH"}`}, false,
			[]finding{{"daemon", StateWarn, "latch s0 since 2026-01-02 04:05:06: stops failed", "botd resume"}}},
		{"another version", map[string]string{health: "{}", status: `{"version":"0.0.1","ready":true}`, config: `{"hash":"HASH"}`}, false,
			[]finding{{"daemon", StateWarn, "botd 0.0.1 runs, this is ", "restart it to run the installed version"}}},
		{"another configuration", map[string]string{health: "{}", status: `{` + own + `,"ready":true}`, config: `{"hash":"other"}`}, false,
			[]finding{{"daemon", StateWarn, "it runs a configuration that differs from the files", "botd config diff"}}},
		{"another botd", map[string]string{health: "{}"}, false, []finding{{"daemon", StateFail, "it does not run, and another botd uses its address ADDRESS",
			"a different listen in this configuration's botd.yaml"}}},
		{"another botd that was named", map[string]string{health: "{}"}, true, []finding{
			{"daemon", StateFail, "the daemon answered 401", "another configuration"}}},
		{"not botd", map[string]string{health: "{}", status: "hello"}, false, []finding{
			{"daemon", StateFail, "the answer of ADDRESS is not botd's", "does that address belong to botd?"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "")
			answers := map[string]string{}
			var address string
			h.daemon, address = answering(t, answers)
			h.root = "mode: demo\nlisten: " + address + "\n"
			if c.named {
				h.address = address
			}
			loaded, problems := h.load(t)
			if loaded == nil {
				t.Fatal(problems)
			}
			for path, text := range c.answers {
				answers[path] = strings.ReplaceAll(text, "HASH", loaded.Hash())
			}
			d, bad := h.examine(t), 0
			for _, f := range c.want {
				expect(t, d, f.Check, f.State, strings.ReplaceAll(f.What, "ADDRESS", address), f.Remedy)
			}
			for _, f := range d.Findings {
				if f.Check == "daemon" && f.State != StateOK {
					bad++
				}
			}
			if want := map[bool]int{true: 0, false: 1}[c.want[0].State == StateOK]; bad != want {
				t.Errorf("want %d findings that are not ok, have %+v", want, d.Findings)
			}
		})
	}
}

func TestAddressOfTheDaemonIsTried(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	expect(t, newHouse(t, "mode: demo\nlisten: "+address+"\n").examine(t), "daemon", StateFail,
		"it does not run, and its address "+address+" cannot be used: ", "stop the program that uses the address, or set listen in botd.yaml")
	expect(t, newHouse(t, "mode: demo\nlisten: 127.0.0.1:0\n").examine(t), "daemon", StateOK, "it does not run; its address 127.0.0.1:0 is free", "")
}
