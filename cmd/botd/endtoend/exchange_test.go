package endtoend

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"botd/cmd/botd/cli/research"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim/server"
	"botd/internal/failure"
)

// TestTheExchangesPageIsTrue runs every command of docs/exchange.md, in order, and compares the answers with
// the page.
func TestTheExchangesPageIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	var base string
	ran, files := 0, map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(strings.TrimSpace(step), "\n")
			if arguments, found := strings.CutPrefix(line, "botd "); found {
				base = startExchange(t, strings.Fields(arguments))
				continue
			}
			ran++
			have := curl(t, base, line, files)
			if !like(want, have) {
				t.Errorf("$ %s\nwant %s\nhave %s", line, want, have)
			}
		}
	}
	if ran < 10 {
		t.Errorf("requests on the page: want at least 10, have %d", ran)
	}
}

// startExchange runs the real binary on a free port and returns its base URL.
func startExchange(t *testing.T, arguments []string) string {
	t.Helper()
	process := exec.Command("botd", append(arguments, "--listen", "127.0.0.1:0")...)
	stderr, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill() // it may have ended
		_ = process.Wait()
	})
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), "listens on "); found {
			return address
		}
	}
	t.Fatalf("botd %v: want it to listen", arguments)
	return ""
}

var curlLine = regexp.MustCompile(`^curl -s(?: -X ([A-Z]+))?(?: -o ([a-z.]+))?(?: -d (?:'([^']*)'|@([a-z.]+)))? '?(http://[^ ']+)'?$`)

// curl executes a curl command line, on another port. files are the outputs of -o.
func curl(t *testing.T, base, line string, files map[string]string) string {
	t.Helper()
	parts := curlLine.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("this test does not understand: %s", line)
	}
	method, data := parts[1], parts[3]+files[parts[4]]
	if method == "" && data != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, strings.Replace(parts[5], "http://"+server.DefaultListen, base, 1), strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if parts[2] != "" {
		files[parts[2]] = string(body)
		return ""
	}
	return strings.TrimSpace(string(body))
}

// TestEveryVariantIsOnThePage compares the page's table with the exchange's variants.
func TestEveryVariantIsOnThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command("botd", "exchange", "--variant", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	if len(lines) != len(server.Variants()) {
		t.Errorf("want %d variants listed, have\n%s", len(server.Variants()), list)
	}
	for _, line := range lines {
		name, what, _ := strings.Cut(line, " ")
		if row := fmt.Sprintf("| `%s` | %s |\n", name, strings.TrimSpace(what)); !strings.Contains(string(page), row) {
			t.Errorf("the page lacks %s", row)
		}
	}
}

// like compares texts, with ... for any text.
func like(want, have string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\.\.\.`, ".*") + "$").MatchString(have)
}

// TestEveryFlagOfTheExchangeIsOnItsPage keeps the page complete.
func TestEveryFlagOfTheExchangeIsOnItsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`--[a-z-]+`).FindAllString(research.NewExchange().LocalFlags().FlagUsages(), -1) {
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("%s is not in docs/exchange.md", name)
		}
	}
}

func TestTheExchangeSimulatesWhereVenuesDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, hint string }{
		{"--futures-fees=0.02%", "MAKER,TAKER"},
		{"--spot-fees=0.1%,11%", "10%"},
		{"--delay=-1s", "below 0"},
		{"--delay-spread=-1s", "below 0"},
		{"--window=-1s", "below 0"},
		{"--opposite=flip", "flip"},
		{"--signature={nothing}", "{nothing}"},
		{"--encoding=octal", "octal"},
		{"--liquidation-fee=11%", "10%"},
	} {
		output, err := exec.Command("botd", "exchange", "--listen", "127.0.0.1:0", c.flag).CombinedOutput()
		if have := fmt.Sprint(err); have != fmt.Sprint("exit status ", failure.Usage) || !strings.Contains(string(output), c.hint) {
			t.Errorf("%s: want exit %d and %q, have %s and %s", c.flag, failure.Usage, c.hint, have, output)
		}
	}
	base := startExchange(
		t,
		strings.Fields(
			"exchange --market still --clock manual --control --account K:S --futures-fees 0,1% --spot-fees 0.2%,0.3% --delay 0 "+
				"--delay-spread 1ms --opposite net --window 1s --liquidation-fee 1%",
		),
	)
	if have := curl(t, base, "curl -s "+"http://"+server.DefaultListen+"/fapi/v1/time", nil); !strings.Contains(have, "serverTime") {
		t.Errorf("an exchange with every setting: want it to answer, have %s", have)
	}
}

func TestAccountsOfAFileHaveTheirOwnDepositsFeesAndPermissions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "accounts.yaml")
	text := "alice:\n  secret: of alice\n  futures: 20000\n  spot: {USDT: 5, SOL: 7}\n  fees: {futures: {taker: 1%}}\nbob:\n  secret: of " +
		"bob\n  permission: read\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	base := startExchange(t, []string{"exchange", "--market", "still", "--delay", "0", "--accounts", file, "--account", "carol:of carol"})
	client := func(key string) *rest.Client {
		c, err := rest.New(rest.Config{BaseURL: base, Key: key, Secret: []byte("of " + key)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	balances := func(c *rest.Client) string {
		account, err := c.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount})
		if err != nil {
			t.Fatal(err)
		}
		balance := account.Account.WalletBalance.String()
		wallet, err := c.Do(t.Context(), exchange.Request{Operation: exchange.SpotWallet})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range wallet.Balances.Items() {
			if !b.Free.IsZero() {
				balance += fmt.Sprintf(" %s %s", b.Asset, b.Free)
			}
		}
		return balance
	}
	alice := client("alice")
	for c, want := range map[*rest.Client]string{alice: "20000 SOL 7 USDT 5", client("bob"): "10000 BTC 1 USDT 10000",
		client("carol"): "10000 BTC 1 USDT 10000"} {
		if have := balances(c); have != want {
			t.Errorf("want %s, have %s", want, have)
		}
	}
	if err := alice.RefreshSymbols(t.Context()); err != nil {
		t.Fatal(err)
	}
	symbol, _ := alice.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	buy := exchange.Request{Operation: exchange.FuturesPlace, Symbol: "BTC-USDT", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT",
		Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: symbol.QuantityTick}}
	if _, err := alice.Do(t.Context(), buy); err != nil {
		t.Fatal(err)
	}
	if want, have := "19999.499999", strings.Fields(balances(alice))[0]; want != have { // 50000.1 x 0.001 x 1 %
		t.Errorf("after a fill at her own fee: want %s, have %s", want, have)
	}
	var refusal *exchange.Refusal
	if _, err := client("bob").Do(t.Context(), buy); !errors.As(err, &refusal) || refusal.Code != exchange.CodeNotPermitted {
		t.Errorf("want bob's order refused, have %v", err)
	}
}

func TestExchangeStartErrorsHaveExitCodes(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	taken := startExchange(t, []string{"exchange", "--state", filepath.Join(directory, "held")})
	for _, c := range []struct {
		arguments []string
		code      int
		text      string
	}{
		{[]string{"--accounts", write("list.yaml", "- alice\n")}, failure.Config, "list.yaml:1: the file must be a block of keys"},
		{[]string{"--accounts", write("short.yaml", "alice: x\nbob: {permission: both}\n")}, failure.Config, "short.yaml:2: account bob has no secret"},
		{[]string{"--accounts", write("typo.yaml", "alice:\n  secret: hush\n  future: 5\n")}, failure.Config, `did you mean "futures"?`},
		{[]string{"--accounts", write("none.yaml", "")}, failure.Config, "contains no account"},
		{[]string{"--accounts", filepath.Join(directory, "missing.yaml")}, failure.NoInput, "missing.yaml"},
		{[]string{"--market", filepath.Join(directory, "missing.csv")}, failure.NoInput, "missing.csv"},
		{[]string{"--market", write("bad.csv", "open_time_ms,open\n1\n")}, failure.Data, "bad.csv"},
		{[]string{"--symbols", write("bad.yaml", "- {symbol: }\n")}, failure.Data, "bad.yaml"},
		{[]string{"--state", write("other", "something else")}, failure.Data, "not a state file"},
		{[]string{"--state", filepath.Join(directory, "held")}, failure.Temporary, "another exchange uses it"},
		{[]string{"--state", filepath.Join(directory, "no", "where")}, failure.IO, "no such file"},
		{[]string{"--listen", strings.TrimPrefix(taken, "http://")}, failure.Temporary, "in use"},
		{[]string{"--listen", "nonsense"}, failure.Usage, "nonsense"},
		{[]string{"--account", "alice"}, failure.Usage, "KEY:SECRET"},
	} {
		arguments := append([]string{"exchange", "--listen", "127.0.0.1:0"}, c.arguments...)
		output, err := exec.Command("botd", arguments...).CombinedOutput()
		if have := fmt.Sprint(err); have != fmt.Sprint("exit status ", c.code) || !strings.Contains(string(output), c.text) ||
			strings.Contains(string(output), "hush") {
			t.Errorf("%v: want exit %d and %q, have %s and %s", c.arguments, c.code, c.text, have, output)
		}
	}
}

func TestAVenuesOwnListsAreSymbolsForTheExchange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "symbols.yaml")
	text := `[{"symbol":"DOGE-USDT","baseAsset":"DOGE","quoteAsset":"USDT","quantityTick":1,
		"priceTick":1e-05,"minNotional":5,"maxNotional":200000,"isTrade":true,"isReduceOnly":false,
		"isCancelOrder":true,"fundingIntervalHours":4}]`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	base := startExchange(t, []string{"exchange", "--market", "still", "--symbols", file})
	for path, want := range map[string]string{
		"/fapi/v1/symbols":                 `[{"symbol":"DOGE-USDT",...,"priceTick":1e-05,...,"fundingIntervalHours":4}]`,
		"/api/v1/spot/public/pairs":        `[{"symbol":"DOGE-USDT","base":"DOGE","quote":"USDT","priceTick":1e-05,"quantityTick":1,...}]`,
		"/fapi/v1/margin-levels/DOGE-USDT": `[{"symbol":"DOGE-USDT","min":"0","max":"250000","marginRatio":"0.01","marginAmount":"0","maxLeverage":50},...]`,
	} {
		if have := curl(t, base, "curl -s http://"+server.DefaultListen+path, nil); !like(want, have) {
			t.Errorf("%s: want %s, have %s", path, want, have)
		}
	}
}
