package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"botd/exchange/sim/server"
)

// TestTheExchangesPageIsTrue runs every command of docs/exchange.md, in order,
// and compares what it answers with what the page says.
func TestTheExchangesPageIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	var base string
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(strings.TrimSpace(step), "\n")
			if arguments, found := strings.CutPrefix(line, "botd "); found {
				base = startExchange(t, strings.Fields(arguments))
				continue
			}
			ran++
			have := curl(t, base, line)
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
	told, err := process.StderrPipe()
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
	for lines := bufio.NewScanner(told); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), "listens on "); found {
			return address
		}
	}
	t.Fatalf("botd %v: want it to listen", arguments)
	return ""
}

var curlLine = regexp.MustCompile(`^curl -s(?: -X ([A-Z]+))?(?: -d '([^']*)')? (http://[^ ]+)$`)

// curl does what a line of curl does, on another port.
func curl(t *testing.T, base, line string) string {
	t.Helper()
	parts := curlLine.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("this test does not understand: %s", line)
	}
	method := parts[1]
	if method == "" && parts[2] != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, strings.Replace(parts[3], "http://"+server.DefaultListen, base, 1), strings.NewReader(parts[2]))
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
	return strings.TrimSpace(string(body))
}

// like compares, with ... for any text.
func like(want, have string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), `\.\.\.`, ".*") + "$").MatchString(have)
}

// TestEveryFlagOfTheExchangeIsOnItsPage keeps the page whole.
func TestEveryFlagOfTheExchangeIsOnItsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`--[a-z-]+`).FindAllString(newExchange().LocalFlags().FlagUsages(), -1) {
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("%s is not in docs/exchange.md", name)
		}
	}
}

func TestWhereVenuesDifferTheExchangeIsToldSo(t *testing.T) {
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
	} {
		output, err := exec.Command("botd", "exchange", "--listen", "127.0.0.1:0", c.flag).CombinedOutput()
		if have := fmt.Sprint(err); have != fmt.Sprint("exit status ", exitUsage) || !strings.Contains(string(output), c.hint) {
			t.Errorf("%s: want exit %d and %q, have %s and %s", c.flag, exitUsage, c.hint, have, output)
		}
	}
	base := startExchange(t, strings.Fields("exchange --market still --clock manual --control --account K:S --futures-fees 0,1% --spot-fees 0.2%,0.3% --delay 0 --delay-spread 1ms --opposite net --window 1s"))
	if have := curl(t, base, "curl -s "+"http://"+server.DefaultListen+"/fapi/v1/time"); !strings.Contains(have, "serverTime") {
		t.Errorf("an exchange with every setting: want it to answer, have %s", have)
	}
}
