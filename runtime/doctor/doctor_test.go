package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/configs"
	"botd/runtime/api/client"
	"botd/strategy"
	"botd/strategy/library"
)

// write creates a file and its directories.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// house is a configuration in a directory, with its data in data below it.
type house struct {
	directory string
	trades    []string // MARKET SYMBOL of each strategy
	root      string   // content of botd.yaml after data_dir
	daemon    func(context.Context) (*client.Daemon, error)
	address   string
}

// newHouse returns the house of a configuration that trades BTC-USDT futures.
func newHouse(t *testing.T, root string) *house {
	return &house{directory: t.TempDir(), root: root, trades: []string{"futures BTC-USDT"},
		daemon: func(context.Context) (*client.Daemon, error) { return nil, errors.New("it does not run") }}
}

// data returns the path of a file in the data directory of a mode.
func (h *house) data(names ...string) string {
	return filepath.Join(append([]string{h.directory, "data"}, names...)...)
}

// load writes the configuration and reads it.
func (h *house) load(t *testing.T) (*configs.Config, configs.Problems) {
	t.Helper()
	write(t, filepath.Join(h.directory, "botd.yaml"), "data_dir: "+h.data()+"\n"+h.root)
	for i, one := range h.trades {
		market, symbol, _ := strings.Cut(one, " ")
		write(t, filepath.Join(h.directory, "strategies", fmt.Sprintf("s%d.yaml", i)),
			fmt.Sprintf("name: s%d\nstrategy: buy_and_hold\nmarket: %s\nsymbol: %s\ninterval: 1m\n", i, market, symbol))
	}
	return configs.LoadDirectory(h.directory, configs.Options{Registry: strategy.NewRegistry(library.All()...)})
}

// examine writes the configuration and runs all checks.
func (h *house) examine(t *testing.T) Diagnosis {
	t.Helper()
	return Examine(t.Context(), Patient{Address: h.address, Daemon: h.daemon, Load: func() (*configs.Config, configs.Problems, error) {
		config, problems := h.load(t)
		return config, problems, nil
	}})
}

// expect requires a finding with the given words. It also requires of every finding that is not OK a remedy.
func expect(t *testing.T, d Diagnosis, check, state, what, remedy string) {
	t.Helper()
	found := false
	for _, f := range d.Findings {
		found = found || f.Check == check && f.State == state && strings.Contains(f.What, what) && strings.Contains(f.Remedy, remedy) &&
			(remedy != "" || state != StateOK || f.Remedy == "")
	}
	if !found {
		t.Errorf("want %s of %s: %q, remedy %q\nhave %+v", state, check, what, remedy, d.Findings)
	}
}

// without requires that a check has no finding of a state.
func without(t *testing.T, d Diagnosis, check, state string) {
	t.Helper()
	for _, f := range d.Findings {
		if f.Check == check && f.State == state {
			t.Errorf("want no %s of %s, have %+v", state, check, f)
		}
	}
}

const demo = "mode: demo\nlisten: off\n"

// TestAHealthyDemoHasNoFailure examines a directory in which nothing has run yet.
func TestAHealthyDemoHasNoFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t, demo)
	d := h.examine(t)
	if d.Schema != 1 || !d.OK || d.Failures != 0 {
		t.Errorf("want no failure, have %+v", d)
	}
	expect(t, d, "configuration", StateOK, "2 files, 1 strategy, mode demo", "")
	expect(t, d, "disk", StateOK, " GiB are free in "+h.data("demo"), "")
	expect(t, d, "journal", StateOK, "none yet; botd run makes "+h.data("demo", "journal.db"), "")
	expect(t, d, "clock", StateOK, "this machine's clock: "+time.Now().UTC().Format("2006-"), "")
	expect(t, d, "venue", StateOK, "the demo's exchange is inside botd", "")
	expect(t, d, "daemon", StateOK, "it does not run", "")
	without(t, d, "profile", StateOK)
	if _, err := os.Stat(h.data()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want nothing created, have %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(h.directory, ".*")); err != nil || len(left) > 0 {
		t.Errorf("want no file left behind, have %q (%v)", left, err)
	}
}

func TestFindingsAreCounted(t *testing.T) {
	t.Parallel()
	count := func(d Diagnosis) (failures, warnings int) {
		for _, f := range d.Findings {
			switch f.State {
			case "fail":
				failures++
			case "warn":
				warnings++
			case "ok":
			default:
				t.Errorf("want ok, warn or fail, have %+v", f)
			}
		}
		return failures, warnings
	}
	h := newHouse(t, demo+"signals: {listen: 127.0.0.1:0, token_file: /absent/signals}\ntelegram: {token_file: /absent/telegram, operators: [1]}\n"+
		"notify: {channels: {phone: {url_file: /absent/phone}}}\n")
	d := h.examine(t)
	failures, warnings := count(d)
	if d.OK || d.Failures != failures || d.Warnings != warnings || failures != 3 {
		t.Errorf("want 3 failures of %d and %d warnings, have %+v", failures, warnings, d)
	}
	for _, name := range []string{"signals", "telegram", "phone"} {
		expect(t, d, "permissions", StateFail, "/absent/"+name, "")
	}
	without(t, d, "permissions", StateOK)
	if rows, are := d.Rows().([]finding); !are || len(rows) != len(d.Findings) {
		t.Errorf("want a row for each of %d findings, have %v", len(d.Findings), d.Rows())
	}
}

func TestReadableTokensAreNoFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.root = fmt.Sprintf("%ssignals: {listen: 127.0.0.1:0, token_file: %[2]s/signals}\ntelegram: {token_file: %[2]s/telegram, operators: [1]}\n"+
		"notify: {channels: {phone: {url_file: %[2]s/phone}}}\n", demo, h.directory)
	write(t, filepath.Join(h.directory, "signals"), "0123456789abcdef0123456789abcdef\n")
	write(t, filepath.Join(h.directory, "telegram"), "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11\n")
	write(t, filepath.Join(h.directory, "phone"), "generic://127.0.0.1:1/hook\n")
	without(t, h.examine(t), "permissions", StateFail)
}

// TestConfigurationErrorsEndTheExamination passes problems in the order of their files.
func TestConfigurationErrorsEndTheExamination(t *testing.T) {
	t.Parallel()
	warning := configs.Problem{File: "a.yaml", Line: 1, Severity: configs.Warning, What: "odd", Hint: "ignore it"}
	wrong := configs.Problem{File: "b.yaml", Line: 2, What: "leverage 200 exceeds 50", Hint: "lower it"}
	for _, c := range []struct {
		name        string
		problems    configs.Problems
		err         error
		state, what string
		remedy      string
	}{
		{"unreadable", nil, errors.New("configs: permission denied\nhint: run it as its owner"), StateFail,
			"configs: permission denied", "run it as its owner"},
		{"unreadable, without a hint", nil, errors.New("configs: is absent"), StateFail, "configs: is absent", ""},
		{"an error after a warning", configs.Problems{warning, wrong}, nil, StateFail, "1 error; the first: b.yaml:2: leverage 200 exceeds 50", "botd check"},
		{"two errors", configs.Problems{wrong, wrong}, nil, StateFail, "2 errors; the first: b.yaml:2: leverage 200 exceeds 50", "botd check"},
	} {
		d := Examine(t.Context(), Patient{Load: func() (*configs.Config, configs.Problems, error) { return nil, c.problems, c.err }})
		if len(d.Findings) != 2 || d.Findings[0].Check != "version" || d.Failures != 1 || d.OK {
			t.Errorf("%s: want the version and one failure, have %+v", c.name, d)
			continue
		}
		want := finding{"configuration", c.state, c.what, d.Findings[1].Remedy}
		if d.Findings[1] != want || !strings.Contains(d.Findings[1].Remedy, c.remedy) || (c.remedy == "") != (d.Findings[1].Remedy == "") {
			t.Errorf("%s: want %+v with remedy %q, have %+v", c.name, want, c.remedy, d.Findings[1])
		}
	}
}

func TestConfigurationWarningIsNoFailure(t *testing.T) {
	t.Parallel()
	h := newHouse(t, demo)
	config, problems := h.load(t)
	if config == nil {
		t.Fatal(problems)
	}
	config.Journal = "postgres://db.example/botd"
	warnings := configs.Problems{{File: "a.yaml", Line: 1, Severity: configs.Warning, What: "odd", Hint: "ignore it"},
		{File: "b.yaml", Severity: configs.Warning}}
	d := Examine(t.Context(), Patient{Daemon: h.daemon, Load: func() (*configs.Config, configs.Problems, error) { return config, warnings, nil }})
	expect(t, d, "configuration", StateWarn, "2 warnings; the first: a.yaml:1: warning: odd", "botd check")
	expect(t, d, "configuration", StateFail, "journal: postgres is not supported in this version", "this version supports only SQLite in data_dir")
	without(t, d, "configuration", StateOK)
	expect(t, d, "daemon", StateOK, "", "") // the examination continues
}

func TestFilesThatOthersReachAreNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, demo)
	h.load(t)
	keys := []string{"token", "token-viewer", "tokens.json", "journal.db"}
	for i, name := range keys {
		write(t, h.data("demo", name), "")
		if err := os.Chmod(h.data("demo", name), []os.FileMode{0o640, 0o604, 0o601, 0o620}[i]); err != nil {
			t.Fatal(err)
		}
	}
	config, strategies := filepath.Join(h.directory, "botd.yaml"), filepath.Join(h.directory, "strategies", "s0.yaml")
	d := h.examine(t)
	expect(t, d, "permissions", StateWarn, h.data("demo", keys[0])+" has mode 640: others on this machine can access it", "chmod go= "+h.data("demo", keys[0]))
	expect(t, d, "permissions", StateWarn, h.data("demo", keys[1])+" has mode 604", "chmod go= "+h.data("demo", keys[1]))
	expect(t, d, "permissions", StateWarn, h.data("demo", keys[2])+" has mode 601", "chmod go= "+h.data("demo", keys[2]))
	expect(t, d, "permissions", StateWarn, h.data("demo", keys[3])+" has mode 620", "chmod go= "+h.data("demo", keys[3]))
	for _, f := range d.Findings {
		if f.Check == "permissions" && (strings.HasPrefix(f.What, h.data("demo")+" ") || strings.Contains(f.What, "can be written")) {
			t.Errorf("want no finding of files that are their owner's, have %+v", f)
		}
	}
	without(t, d, "permissions", StateOK)
	for path, mode := range map[string]os.FileMode{config: 0o620, strategies: 0o602, h.data("demo"): 0o710} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	d = Examine(t.Context(), Patient{Daemon: h.daemon, Load: func() (*configs.Config, configs.Problems, error) {
		config, problems := configs.LoadDirectory(h.directory, configs.Options{Registry: strategy.NewRegistry(library.All()...)})
		return config, problems, nil
	}})
	expect(t, d, "permissions", StateWarn, config+" can be written by others, who could make botd trade", "chmod go-w "+config)
	expect(t, d, "permissions", StateWarn, strategies+" can be written by others", "chmod go-w "+strategies)
	expect(t, d, "permissions", StateWarn, h.data("demo")+" has mode 710", "chmod go= "+h.data("demo"))
}
