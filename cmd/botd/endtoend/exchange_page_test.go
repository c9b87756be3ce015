package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"botd/exchange/sim/server"
)

// pageBlock returns the one block of a language on the exchange's page.
func pageBlock(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(above, "docs", "exchange.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) != 1 {
		t.Fatalf("blocks of %s on the page: want one, have %d", language, len(found))
	}
	return found[0][1]
}

// startNow starts an exchange with this machine's clock, as a reader of the page does.
func startNow(t *testing.T, arguments ...string) string {
	t.Helper()
	return startExchange(t, append([]string{"exchange", "--start", time.Now().UTC().Format(time.RFC3339Nano)}, arguments...))
}

// TestTheProgramsOnTheExchangesPageTrade runs the page's program in each language unchanged, on another port.
func TestTheProgramsOnTheExchangesPageTrade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, file, program string
		arguments               []string
		want                    []string
	}{
		{"python", "main.py", "python3", nil, []string{"'status': 'CREATED'", "'side': 'LONG'", "'remainingQty': '0.01'"}},
		{"go", "main.go", "go", []string{"run"}, []string{`"status":"CREATED"`, `"wallets":[`}},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			program := tool(t, c.program, c.language)
			base := startNow(t, "--account", "KEY:SECRET", "--market", "still")
			directory := t.TempDir()
			text := strings.ReplaceAll(pageBlock(t, c.language), "http://"+server.DefaultListen, base)
			write(t, filepath.Join(directory, c.file), text)
			have := do(t, directory, program, append(c.arguments, c.file)...)
			for _, want := range c.want {
				if !strings.Contains(have, want) {
					t.Errorf("want %q, have %s", want, have)
				}
			}
		})
	}
}

// TestTheServicesOnTheExchangesPageServe starts the exchange with the arguments of the page's container and
// unit, with its files in another place.
func TestTheServicesOnTheExchangesPageServe(t *testing.T) {
	t.Parallel()
	var entry []string
	line := regexp.MustCompile(`ENTRYPOINT (\[.*\])`).FindStringSubmatch(pageBlock(t, "dockerfile"))
	if len(line) != 2 {
		t.Fatal("the container has no ENTRYPOINT")
	}
	if err := json.Unmarshal([]byte(line[1]), &entry); err != nil {
		t.Fatal(err)
	}
	unit := regexp.MustCompile(`ExecStart=\S+ (.*)`).FindStringSubmatch(pageBlock(t, "ini"))
	if len(unit) != 2 {
		t.Fatal("the unit has no ExecStart")
	}
	accounts := pageBlock(t, "yaml")
	for name, arguments := range map[string][]string{"container": entry[1:], "unit": strings.Fields(unit[1])} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			write(t, filepath.Join(directory, "accounts.yaml"), accounts)
			var own []string
			for i, argument := range arguments {
				switch {
				case strings.HasSuffix(argument, "accounts.yaml"):
					argument = filepath.Join(directory, "accounts.yaml")
				case i > 0 && arguments[i-1] == "--state":
					argument = filepath.Join(directory, "state")
				case argument == "--listen" || i > 0 && arguments[i-1] == "--listen":
					continue // the test chooses a port
				}
				own = append(own, argument)
			}
			have := curl(t, startExchange(t, own), "curl -s http://"+server.DefaultListen+"/fapi/v1/health", nil)
			if want := `{"status":"ok"}`; have != want {
				t.Errorf("want %s, have %s", want, have)
			}
			if _, err := os.Stat(filepath.Join(directory, "state")); err != nil {
				t.Errorf("want the state stored, have %v", err)
			}
		})
	}
}
