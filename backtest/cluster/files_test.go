package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/sweeps"
	"botd/internal/failure"
)

// TestFilesOfASweepTakeTheirPlaceByRole sends one file of each role.
func TestFilesOfASweepTakeTheirPlaceByRole(t *testing.T) {
	t.Parallel()
	var have inputs.Files
	for _, f := range []file{{Role: roleData, Name: "a.csv"}, {Role: roleOther, Name: "b.csv", Prefix: "ETH-USDT"}, {Role: roleDetail, Name: "c.csv"},
		{Role: roleTrades, Name: "d.csv"}, {Role: roleFunding, Name: "e.csv"}, {Role: roleSignals, Name: "f.csv"}, {Role: roleColumns, Name: "g.csv"},
		{Role: roleColumns, Name: "h.csv", Prefix: "fear"}, {Role: roleSymbols, Name: "i.json"}, {Role: roleStrategy, Name: "strategy.yaml"},
		{Role: roleStrategy, Name: "rules.star"}} {
		addFile(&have, &f, "/cache/"+f.Name)
	}
	want := inputs.Files{Data: []string{"/cache/a.csv", "ETH-USDT=/cache/b.csv"}, Detail: []string{"/cache/c.csv"}, Trades: []string{"/cache/d.csv"},
		Funding: []string{"/cache/e.csv"}, Signals: []string{"/cache/f.csv"}, Columns: []string{"/cache/g.csv", "/cache/h.csv=fear"}, Symbols: "/cache/i.json",
		StrategyFiles: []string{"/cache/strategy.yaml"}}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("want\n%+v\nhave\n%+v", want, have)
	}
}

// parts are a file on disk and two texts of a strategy.
func parts(t *testing.T) []part {
	t.Helper()
	path := filepath.Join(t.TempDir(), "candles.csv")
	if err := os.WriteFile(path, []byte("candles of a day"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []part{{file: file{Role: roleData, Name: "candles.csv"}, path: path}, {file: file{Role: roleStrategy, Name: "strategy.yaml"},
		text: []byte("name: a")},
		{file: file{Role: roleStrategy, Name: filepath.Join("lib", "x.star")}, text: []byte("def f(): pass")}}
}

// TestFilesAreSentAndReceivedOnce sends files twice, and places them twice with one cache, and once with a cache whose copy was cut.
func TestFilesAreSentAndReceivedOnce(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	given := parts(t)
	files, sent, err := s.upload(t.Context(), given)
	if err != nil || sent != 16+7+13 || len(files) != 3 || files[0].Bytes != 16 || files[1].Role != roleStrategy || len(files[0].SHA256) != 64 {
		t.Fatalf("want 36 bytes sent, have %d, %+v, %v", sent, files, err)
	}
	if again, sent, err := s.upload(t.Context(), given); err != nil || sent != 0 || !reflect.DeepEqual(again, files) {
		t.Errorf("again: want nothing sent, have %d, %v", sent, err)
	}
	spec := crossings("x")
	spec.From, spec.To, spec.Repair = "2024-01-01", "2024-02-01", true
	c := &cache{directory: filepath.Join(t.TempDir(), "files")}
	for i, want := range []int64{36, 0, 16} {
		if i == 2 {
			if err := os.WriteFile(filepath.Join(c.directory, files[0].SHA256), []byte("cut"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		folder, into := t.TempDir(), inputs.Files{}
		received, err := c.place(t.Context(), s, &Sweep{Spec: spec, Files: files}, folder, &into)
		if err != nil || received != want || into.From != spec.From || into.To != spec.To || !into.Repair || len(into.Data) != 1 ||
			len(into.StrategyFiles) != 1 {
			t.Fatalf("%d: want %d bytes received, have %d, %+v, %v", i, want, received, into, err)
		}
		for path, text := range map[string]string{into.Data[0]: "candles of a day", into.StrategyFiles[0]: "name: a",
			filepath.Join(folder, "strategy", "lib", "x.star"): "def f(): pass"} {
			if have, err := os.ReadFile(path); err != nil || string(have) != text {
				t.Errorf("%s: want %q, have %q, %v", path, text, have, err)
			}
		}
		if filepath.Base(into.Data[0]) != "candles.csv" {
			t.Errorf("want the name kept, whose ending shows its format, have %s", into.Data[0])
		}
	}
	if left, err := filepath.Glob(filepath.Join(c.directory, "new-*")); err != nil || len(left) != 0 {
		t.Errorf("want nothing half received left, have %v, %v", left, err)
	}
}

// TestAWorkerTakesNoFileThatItMustNot sends names outside its folder, invalid hashes, bytes with another
// hash, and missing files.
func TestAWorkerTakesNoFileThatItMustNot(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	sum := sha256.Sum256([]byte("good"))
	good, wrong := hex.EncodeToString(sum[:]), strings.Repeat("ab", 32)
	for hash, text := range map[string]string{good: "good", wrong: "evil"} {
		if _, err := s.files.Put(t.Context(), jetstream.ObjectMeta{Name: hash}, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	const mustNot = "the sweep names a file outside its folder"
	for _, c := range []struct {
		file  file
		words string // of the error; empty for none
	}{
		{file{Role: roleData, Name: "a.csv", SHA256: good, Bytes: 4}, ""}, {file{Role: roleStrategy, Name: "../a.yaml", SHA256: good, Bytes: 4}, mustNot},
		{file{Role: roleData, Name: "/etc/passwd", SHA256: good, Bytes: 4}, mustNot}, {file{Role: roleData, Name: "a.csv", SHA256: good[1:],
			Bytes: 4}, mustNot},
		{file{Role: roleData, Name: "a.csv", SHA256: "../" + good[3:], Bytes: 4}, mustNot}, {file{Role: roleData, Name: "a.csv",
			SHA256: good[:63] + ".", Bytes: 4}, mustNot},
		{file{Role: roleData, Name: "a.csv", SHA256: good, Bytes: maxFile + 1}, mustNot},
		{file{Role: roleData, Name: "a.csv", SHA256: wrong, Bytes: 4}, "get a.csv: the server's copy does not have the hash that the sweep states"},
		{file{Role: roleData, Name: "a.csv", SHA256: strings.Repeat("cd", 32), Bytes: 4}, "get a.csv: "},
	} {
		directory := t.TempDir()
		_, err := (&cache{directory: directory}).place(t.Context(), s, &Sweep{Spec: &sweeps.Spec{}, Files: []file{c.file}}, t.TempDir(), &inputs.Files{})
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%+v: want %q, have %v", c.file, c.words, err)
		}
		if entries, err := os.ReadDir(directory); err != nil || c.words != "" && len(entries) != 0 {
			t.Errorf("%+v: want nothing stored, have %v, %v", c.file, entries, err)
		}
	}
	missing := []part{{file: file{Role: roleData, Name: "a.csv"}, path: "/nowhere/a.csv"}}
	if _, _, err := s.upload(t.Context(), missing); codeOf(err) != failure.NoInput {
		t.Errorf("a file that is not there: want it refused, have %v", err)
	}
	folder := []part{{file: file{Role: roleData, Name: "a.csv"}, path: t.TempDir()}}
	if _, _, err := s.upload(t.Context(), folder); codeOf(err) != failure.IO {
		t.Errorf("a file that cannot be read: want it refused, have %v", err)
	}
	large := filepath.Join(t.TempDir(), "a.csv")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, maxFile+1)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.upload(t.Context(), []part{{file: file{Role: roleData, Name: "a.csv"}, path: large}}); codeOf(err) != failure.Data ||
		!strings.Contains(err.Error(), "a.csv has 4294967297 bytes; 4294967296 at most are sent to workers") {
		t.Errorf("a file that is too large: want it refused unread, have %v", err)
	}
	s.connection.Close()
	text := []part{{file: file{Role: roleData, Name: "a.csv"}, text: []byte("candles")}}
	if _, _, err := s.upload(t.Context(), text); err == nil || !strings.HasPrefix(err.Error(), "send a.csv: ") {
		t.Errorf("a server that is away: have %v", err)
	}
}

// TestAFolderThatTakesNoFilesIsAnErrorOfTheWorker puts a file where the folder should be. Files that exist in
// a folder already are used.
func TestAFolderThatTakesNoFilesIsAnErrorOfTheWorker(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	files, _, err := s.upload(t.Context(), parts(t))
	if err != nil {
		t.Fatal(err)
	}
	c, found := &cache{directory: t.TempDir()}, &Sweep{Spec: crossings("x"), Files: files}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.place(t.Context(), s, found, blocked, &inputs.Files{}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("have %v", err)
	}
	folder := t.TempDir()
	for range 2 {
		var into inputs.Files
		if _, err := c.place(t.Context(), s, found, folder, &into); err != nil || len(into.StrategyFiles) != 1 {
			t.Errorf("want files that are there already taken, have %+v, %v", into, err)
		}
	}
}

// TestAScriptIsSentWithItsStrategy uses a script in its own file.
func TestAScriptIsSentWithItsStrategy(t *testing.T) {
	t.Parallel()
	_, trials := prepared(t, crossings("x"))
	trials.Base.Script.File, trials.Base.Script.Text = filepath.Join(filepath.Dir(trials.Base.File), "rules.star"), "def decide(): pass"
	have, err := partsOf(trials)
	if err != nil || len(have) != 3 || have[2].Role != roleStrategy || have[2].Name == "strategy.yaml" || len(have[2].text) == 0 || have[2].path != "" {
		t.Errorf("want the script sent, have %+v, %v", have, err)
	}
}

// TestEverythingThatATrialReadsIsSent lists the files of a sweep.
func TestEverythingThatATrialReadsIsSent(t *testing.T) {
	t.Parallel()
	_, trials := prepared(t, crossings("x"))
	have, err := partsOf(trials)
	if err != nil || len(have) != 2 || have[0].Role != roleData || have[0].Name != "BTCUSDT-1h.csv" || have[0].Prefix != "" || have[0].path == "" ||
		have[1].Role != roleStrategy || have[1].Name != "strategy.yaml" || string(have[1].text) != crossing {
		t.Errorf("want candles and strategy, have %+v, %v", have, err)
	}
	given, one := trials.Config.Inputs, &trials.Config.Inputs.Strategies[0]
	given.Symbols, given.Signals = &backtest.File{Path: "/d/symbols.json"}, []backtest.File{{Path: "/d/signals.csv"}}
	given.Columns = []backtest.File{{Path: "/d/fear.csv=fear"}, {Path: "/d/own.csv"}}
	trials.Base.ColumnPaths = []string{"own.csv"} // the strategy names it
	one.Detail, one.Trades, one.Funding = &backtest.File{Path: "/d/detail.csv"}, &backtest.File{Path: "/d/trades.csv"},
		[]backtest.File{{Path: "/d/funding.csv"}}
	one.Others = []backtest.OtherFile{{Symbol: "ETH-USDT", File: backtest.File{Path: "/d/other.csv"}}}
	have, err = partsOf(trials)
	var names []string
	for i := range have {
		names = append(names, strings.Join([]string{have[i].Role, have[i].Name, have[i].Prefix, have[i].path}, " "))
	}
	want := []string{"data BTCUSDT-1h.csv  " + one.Data.Path, "other other.csv ETH-USDT /d/other.csv", "detail detail.csv  /d/detail.csv",
		"trades trades.csv  /d/trades.csv", "symbols symbols.json  /d/symbols.json", "funding funding.csv  /d/funding.csv",
		"signals signals.csv  /d/signals.csv",
		"columns fear.csv fear /d/fear.csv", "strategy strategy.yaml  "}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("want\n%s\nhave\n%s, %v", strings.Join(want, "\n"), strings.Join(names, "\n"), err)
	}
	trials.Base.File = "/nowhere.yaml"
	if _, err := partsOf(trials); err == nil {
		t.Error("no strategy: want an error")
	}
}
