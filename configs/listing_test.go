package configs_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
	"botd/exchange"
)

// unreadable is a tree of files, one of which may not be read.
type unreadable struct {
	fstest.MapFS
	name string
}

func (u unreadable) Open(name string) (fs.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.Open(name)
}

func (u unreadable) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.ReadDir(name)
}

func (u unreadable) ReadFile(name string) ([]byte, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.MapFS.ReadFile(name)
}

// A file that is no part of a configuration is ignored.
func TestUnreadableFilesAreNamed(t *testing.T) {
	t.Parallel()
	files := tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", simple("a", "futures", "BTC-USDT"), "strategies/.b.yaml", "nonsense", "strategies/c.yaml/d",
		"nonsense", "strategies/e.txt", "nonsense")
	for name, want := range map[string]string{".": "conf: cannot be read: permission denied",
		"strategies": "conf/strategies: cannot be read: permission denied",
		"botd.yaml":  "conf/botd.yaml: cannot be read: permission denied", "strategies/a.yaml": "conf/strategies/a.yaml: cannot be read: permission denied"} {
		if config, problems := configs.Load(unreadable{files, name}, "conf", options(t)); config != nil || !strings.Contains(problems.String(), want) {
			t.Errorf("%s: want %q, have %v", name, want, problems)
		} else if problems[0].Line != 0 || problems[0].Column != 0 {
			t.Errorf("%s: want no line, have %+v", name, problems[0])
		}
	}
	config, problems := configs.Load(unreadable{files, ""}, "conf", options(t))
	if config == nil || len(problems) != 0 || config.Directory != "conf" || !cmp.Equal(config.Files, []string{"conf/botd.yaml", "conf/strategies/a.yaml"}) {
		t.Errorf("want two files read and no problem, have %v, %v", config, problems)
	}
	file := write(t, filepath.Join(t.TempDir(), "file"), "x", 0o600)
	if config, problems := configs.LoadDirectory(filepath.Join(file, "below"), options(t)); config != nil || !strings.Contains(problems.String(),
		"cannot be read: not a directory") {
		t.Errorf("below a file: want it unreadable, have %v", problems)
	}
	if c, problems := configs.LoadStrategy(filepath.Join(file, "below"), options(t)); c != nil || !strings.Contains(problems.String(),
		"cannot be read: not a directory") {
		t.Errorf("below a file: want it unreadable, have %v", problems)
	}
}

// The bounds are those of the account or of a market.
func TestBoundsAreKnownWhereAllThreeAreWritten(t *testing.T) {
	t.Parallel()
	for text, known := range map[string]string{
		"":                              "",
		"window: 5s":                    "",
		"window: 5s, visibility: 1s":    "",
		"visibility: 1s, staleness: 1s": "",
		"window: 5s, staleness: 1s":     "",
		"window: 5s, visibility: 1s, staleness: 1s":                                                            "futures spot",
		"futures: {window: 5s, visibility: 1s}":                                                                "",
		"spot: {window: 5s, visibility: 1s, staleness: 1s}":                                                    "spot",
		"futures: {window: 5s, visibility: 1s, staleness: 1s}, spot: {visibility: 1s, staleness: 1s}":          "futures",
		"futures: {window: 5s, staleness: 1s}, spot: {window: 5s, visibility: 1s, staleness: 1s, measured: x}": "-",
	} {
		config, problems := configs.Load(tree("botd.yaml",
			"mode: live\nexchange: {base_url: https://v.example, key_file: /k, secret_file: /s, settle: {"+text+"}}\n"),
			"", options(t))
		have := "-"
		if config != nil {
			var markets []string
			for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
				if config.Exchange.Settle.Known(market) {
					markets = append(markets, market.String())
				}
			}
			have = strings.Join(markets, " ")
		}
		if have != known {
			t.Errorf("%q: want %q known, have %q, %v", text, known, have, problems)
		}
	}
}

// The bounds are fifty members, a hundred assets, and a hundred words of a status.
func TestListsAndTablesHaveTheirLengths(t *testing.T) {
	t.Parallel()
	many := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i+1))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct{ root, want string }{
		{"telegram: {token_file: /t, operators: [" + many(50, "%d") + "]}", ""},
		{"telegram: {token_file: /t, operators: [" + many(51, "%d") + "]}", "telegram.operators is a list, not a list of at most 50 numbers"},
		{"simulated: {spot: {" + many(100, "A%d: 1") + "}}", ""},
		{"simulated: {spot: {" + many(101, "A%d: 1") + "}}", "101 assets exceed the maximum of 100"},
		{"simulated: {spot: {usdt: 1, BTC: 2}}", "simulated.spot.usdt is not a valid asset name"},
		{"exchange: {profile: {status_words: {spot: {" + many(100, "W%d: FILLED") + "}}}}", ""},
		{"exchange: {profile: {status_words: {spot: {" + many(101, "W%d: FILLED") + "}}}}", "exchange.profile.status_words.spot.W101 is not a status word"},
		{"exchange: {profile: {status_words: {spot: {'a/b': FILLED}}}}", "exchange.profile.status_words.spot.a/b is not a status word"},
		{"exchange: {profile: {status_words: {spot: {DONE: FILED, OVER: FILLED}}}}", "exchange.profile.status_words.spot.DONE: "},
	} {
		config, problems := configs.Load(tree("botd.yaml", "mode: paper\n"+c.root+"\n"), "", options(t))
		errs := 0
		for _, p := range problems {
			if p.Severity == configs.Error && !strings.Contains(p.What, "base_url") && !strings.Contains(p.What, "lists no users") {
				if errs++; c.want == "" || !strings.HasPrefix(p.What, c.want) {
					t.Errorf("%.60s: want %q, have %v", c.root, c.want, p)
				}
			}
		}
		if c.want != "" && (errs != 1 || config != nil) {
			t.Errorf("%.60s: want one error, have %d", c.root, errs)
		}
	}
	// An item without a name is shown by its index.
	differences, err := configs.Differences("a: [x, y]\n", "a: [x, z, {name: w, b: 1}]\n")
	want := []configs.Difference{{Path: "a.2", Was: "y", Is: "z"}, {Path: "a.w.b", Is: "1"}, {Path: "a.w.name", Is: "w"}}
	if err != nil || !cmp.Equal(want, differences) {
		t.Errorf("want %v, have %v, %v", want, differences, err)
	}
	if _, err := configs.Differences("a: 1\n", "a: ["); err == nil {
		t.Error("what cannot be read now: want an error")
	}
	config, _ := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", simple("a", "futures", "BTC-USDT"), "strategies/b.yaml",
		simple("b", "spot", "BTC-USDT")), "", options(t))
	if a, b := config.Strategy("a").Backtest, config.Strategy("b").Backtest; a.Maker != exchange.RateOne/5000 || a.Taker != exchange.RateOne/2000 ||
		b.Maker != exchange.RateOne/1000 || b.Taker != exchange.RateOne/1000 {
		t.Errorf("want the fees of each market, have %+v and %+v", a, b)
	}
}

// One strategy file more than the maximum is refused before any is read.
func TestMaximumNumberOfStrategies(t *testing.T) {
	t.Parallel()
	for more, want := range []bool{false, true} {
		files := tree("botd.yaml", "mode: demo\n")
		for i := range configs.MaxStrategies + more {
			files[fmt.Sprintf("strategies/%03d.yaml", i)] = &fstest.MapFile{}
		}
		_, problems := configs.Load(files, "", options(t))
		if have := strings.Contains(problems.String(), "501 strategies exceed the maximum of 500"); have != want || want && problems.Errors() != 1 {
			t.Errorf("%d more: want them refused %t, have %d problems", more, want, len(problems))
		}
	}
}

// A profile is in the configuration's folder or has an absolute path, and belongs to the files of the
// configuration.
func TestAProfileIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	const profile = "null_lists: empty\nstatus_words: {spot: {DONE: FILLED}}\n"
	outside := write(t, filepath.Join(t.TempDir(), "venue.yaml"), profile, 0o600)
	for name, shown := range map[string]string{"venue.yaml": "conf/venue.yaml", "./venue.yaml": "conf/venue.yaml", outside: outside} {
		config, problems := configs.Load(tree("botd.yaml", "mode: paper\nprofile: "+name+"\nexchange: {base_url: https://v.example}\n", "venue.yaml", profile),
			"conf", options(t))
		if config == nil {
			t.Fatal(problems)
		}
		if p := config.Exchange.Profile; p.NullLists != configs.NullIsEmpty || p.SpotWords["DONE"] != "FILLED" ||
			!cmp.Equal(config.Files, []string{"conf/botd.yaml", shown}) {
			t.Errorf("%s: want the profile and its file, have %+v and %v", name, p, config.Files)
		}
	}
	for name, want := range map[string]string{"none.yaml": "none.yaml cannot be read: file does not exist", "broken.yaml": "conf/broken.yaml:1: "} {
		config, problems := configs.Load(tree("botd.yaml", "mode: paper\nprofile: "+name+"\nexchange: {base_url: https://v.example}\n", "broken.yaml",
			"a: b: c\n"),
			"conf", options(t))
		if config != nil || !strings.Contains(problems.String(), want) {
			t.Errorf("%s: want %q, have %v", name, want, problems)
		}
	}
	if one, problems := configs.LoadStrategy("botd.yaml", options(t)); one != nil || len(problems) == 0 || problems[0].File != "botd.yaml" ||
		problems[0].Line == 0 {
		t.Errorf("a file of the working directory: want it read, have %v", problems)
	}
}
