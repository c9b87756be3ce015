package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"botd/runtime/ops"
)

// tool finds a program, or skips the test; with its family in BOTD_REQUIRE it fails.
func tool(t *testing.T, name, family string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if slices.Contains(strings.FieldsFunc(os.Getenv("BOTD_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }), family) {
		t.Fatalf("%s is not installed: .ci/run shows where it comes from", name)
	}
	t.Skipf("%s is not installed (.ci/run shows where it comes from); BOTD_REQUIRE=%s makes this fail", name, family)
	return ""
}

// TestARealPrometheusScrapesARealBotd starts both, and queries every family, every rule and every expression
// of the dashboard.
func TestARealPrometheusScrapesARealBotd(t *testing.T) {
	t.Parallel()
	prometheus, promtool := tool(t, "prometheus", "promtool"), tool(t, "promtool", "promtool")
	directory := t.TempDir()
	address := demoListening(t, self(t), directory)
	exposition := get(t, "http://"+address+"/metrics")
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(exposition)
	if output, err := check.CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, output)
	}
	base := startPrometheus(t, prometheus, directory, address)
	q := &querier{t, base, time.Now().Add(60 * time.Second)}
	q.until(`count(up{job="botd"} == 1)`)
	q.until(`instance:botd_exchange_requests:rate5m`) // the rules were evaluated
	for _, family := range ops.NewMetrics("demo", ops.Build{}).Families() {
		name := family.Name
		if family.Kind == "histogram" {
			name += "_count"
		}
		if slices.Contains(rare, family.Name) {
			continue
		}
		q.until(name + `{instance="` + address + `"}`)
	}
	for _, row := range ops.Rows() {
		for _, p := range row.Panels {
			for _, line := range p.Lines {
				q.ask(strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*").Replace(line.Expression))
			}
		}
	}
	if have := q.ask(`sum by (strategy) ((botd_strategy_state == 1))`); len(have) < 3 {
		t.Errorf("strategies: want three, have %v", have)
	}
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	if err := json.Unmarshal([]byte(get(t, base+"/api/v1/rules")), &rules); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, group := range rules.Data.Groups {
		for _, rule := range group.Rules {
			if count++; rule.Health != "ok" {
				t.Errorf("%s: %s %s", rule.Name, rule.Health, rule.LastError)
			}
		}
	}
	if want := len(ops.Alerts()) + len(ops.Recordings()); count != want {
		t.Errorf("rules: want %d, have %d", want, count)
	}
}

// rare are the families without a series in a healthy demo.
var rare = []string{
	"botd_signals_total",                       // no signals are configured
	"botd_telegram_messages_total",             // no commands by Telegram are configured
	"botd_heartbeats_total",                    // no heartbeat is configured
	"botd_notifications_total",                 // no channel is configured
	"botd_ledger_unexplained",                  // everything is explained
	"botd_position_liquidation_distance_ratio", // no price would liquidate
}

// startPrometheus runs a Prometheus over one target, with botd's rules.
func startPrometheus(t *testing.T, prometheus, directory, address string) (base string) {
	t.Helper()
	rules, err := ops.RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	return startPrometheusOver(t, prometheus, directory, rules, scraped("botd", filepath.Join(directory, "data/demo/token-viewer"), address))
}

// scraped returns a job over targets, with money: as a viewer.
func scraped(job, token string, targets ...string) string {
	return fmt.Sprintf("  - job_name: %s\n    authorization: {credentials_file: %q}\n    static_configs: [{targets: ['%s']}]\n", job, token,
		strings.Join(targets, "', '"))
}

// startPrometheusOver runs a Prometheus with rules over jobs.
func startPrometheusOver(t *testing.T, prometheus, directory, rules string, jobs ...string) (base string) {
	t.Helper()
	config := "global: {scrape_interval: 2s, evaluation_interval: 1s}\nrule_files: [botd.rules.yml]\nscrape_configs:\n" + strings.Join(jobs, "")
	for name, text := range map[string]string{"botd.rules.yml": rules, "prometheus.yml": config} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().String()
	listener.Close()
	log, err := os.Create(filepath.Join(directory, "prometheus.log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(prometheus, "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--web.listen-address="+port, "--web.enable-lifecycle")
	command.Dir, command.Stdout, command.Stderr = directory, log, log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		_ = command.Wait() // it was killed
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("prometheus: %s", text)
		}
	})
	return "http://" + port
}

// querier queries a Prometheus.
type querier struct {
	t    *testing.T
	base string
	late time.Time
}

type sample struct {
	Metric map[string]string
	Value  [2]any
}

func (q *querier) try(expression string) ([]sample, error) {
	ctx, cancel := context.WithTimeout(q.t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, q.base+"/api/v1/query?query="+url.QueryEscape(expression), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []sample }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", expression, answer.Error)
	}
	return answer.Data.Result, nil
}

// ask expects an answer, empty or not.
func (q *querier) ask(expression string) []sample {
	q.t.Helper()
	samples, err := q.try(expression)
	if err != nil {
		q.t.Error(err)
	}
	return samples
}

// until queries until an answer is not empty.
func (q *querier) until(expression string) []sample {
	q.t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		samples, err := q.try(expression)
		if err == nil && len(samples) > 0 {
			return samples
		}
		if time.Now().After(q.late) {
			q.t.Errorf("%s: want a series, have none (%v)", expression, err)
			return nil
		}
		<-ticker.C
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, response.Status, err)
	}
	return string(text)
}
