package ops

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// TestTheRulesAreThoseOfTheTables reads the file as Prometheus does.
func TestTheRulesAreThoseOfTheTables(t *testing.T) {
	t.Parallel()
	text, err := RulesYAML()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Record, Alert, Expr, For string
				Labels, Annotations      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 2 || len(file.Groups[0].Rules) != len(Recordings()) || len(file.Groups[1].Rules) != len(Alerts()) {
		t.Fatalf("want %d recordings and %d alerts, have %+v", len(Recordings()), len(Alerts()), file)
	}
	for i, want := range Recordings() {
		if have := file.Groups[0].Rules[i]; have.Record != want.Name || have.Expr != want.Expression {
			t.Errorf("want %+v, have %+v", want, have)
		}
	}
	for i, want := range Alerts() {
		have := file.Groups[1].Rules[i]
		waits := time.Duration(0)
		if have.For != "" {
			if waits, err = time.ParseDuration(have.For); err != nil || waits == 0 {
				t.Errorf("%s: want a duration or none, have %q", want.Name, have.For)
			}
		}
		if have.Alert != want.Name || have.Expr != want.Expression || waits != want.For || have.Labels["severity"] != want.Severity {
			t.Errorf("want %+v, have %+v", want, have)
		}
		all := [4]string{have.Annotations["summary"], have.Annotations["description"], have.Annotations["action"], have.Annotations["runbook_url"]}
		if all != [4]string{want.Summary, want.Meaning, want.Action, "docs/operations.md#" + strings.ToLower(want.Name)} {
			t.Errorf("%s: want its texts, have %q", want.Name, all)
		}
	}
}

func TestADurationForPrometheus(t *testing.T) {
	t.Parallel()
	for duration, want := range map[time.Duration]string{time.Minute: "1m", 90 * time.Minute: "90m", time.Hour: "1h", 48 * time.Hour: "48h"} {
		if have := prometheusDuration(duration); have != want {
			t.Errorf("%s: want %s, have %s", duration, want, have)
		}
	}
}

func TestANameThatIsNoMetricIsFound(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"botd_ready == 1 and botd_reddy": "[botd_reddy]",
		"rate(botd_order_ack_duration_seconds_bucket[5m]) / botd_order_ack_duration_seconds_sum + botd_order_ack_duration_seconds_count": "[]",
		"botd_ready_bucket":                            "[botd_ready_bucket]",
		"slo:botd_rounds:ratio1h + slo:botd_rounds:1y": "[slo:botd_rounds:1y]",
	} {
		if have := fmt.Sprint(Named(expression)); have != want {
			t.Errorf("%s: want %s, have %s", expression, want, have)
		}
	}
}

// panel is a panel as Grafana reads it.
type panel struct {
	ID      int
	Title   string
	Type    string
	GridPos struct{ X, Y, W, H int }
	Targets []struct {
		RefID, Expr, LegendFormat, Format string
		Instant, Range                    bool
		Datasource                        map[string]string
	}
	FieldConfig struct {
		Defaults struct {
			Unit       string
			Thresholds struct {
				Steps []struct {
					Color string
					Value *float64
				}
			}
		}
	}
}

// TestTheDashboardForGrafana checks what a person sees: lines of panels from edge to edge, and each query with its letter.
func TestTheDashboardForGrafana(t *testing.T) {
	t.Parallel()
	text, err := DashboardJSON()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels      []panel
		Annotations struct{ List []map[string]any }
		Templating  struct{ List []map[string]any }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	filled := map[int]int{} // columns by line
	stats, heatmaps := 0, 0
	for i, p := range d.Panels {
		if p.ID != i+1 {
			t.Errorf("%s: want the number %d, have %d", p.Title, i+1, p.ID)
		}
		filled[p.GridPos.Y] += p.GridPos.W
		high := map[string]int{"row": 1, "stat": 4}[p.Type]
		if high == 0 {
			high = 8
		}
		if p.GridPos.H != high {
			t.Errorf("%s: want %d high, have %d", p.Title, high, p.GridPos.H)
		}
		for n, target := range p.Targets {
			if want := string("ABCD"[n]); target.RefID != want || target.Datasource["uid"] != "${datasource}" || !strings.Contains(target.Expr, "botd_") {
				t.Errorf("%s: want the query %s of botd's metrics, have %+v", p.Title, want, target)
			}
			if stat := p.Type == "stat"; target.Instant != stat || target.Range == stat || (target.Format == "heatmap") != (p.Type == "heatmap") {
				t.Errorf("%s: want the newest value of a stat alone, have %+v", p.Title, target)
			}
		}
		switch p.Type {
		case "stat":
			stats++
			if steps := p.FieldConfig.Defaults.Thresholds.Steps; p.Title != "Equity" && (len(steps) < 2 || steps[0].Value != nil || steps[1].Value == nil) {
				t.Errorf("%s: want colors from the first value on, have %+v", p.Title, steps)
			}
		case "heatmap":
			heatmaps++
		}
	}
	for y, columns := range filled {
		if columns != 24 {
			t.Errorf("line %d: want 24 columns filled, have %d", y, columns)
		}
	}
	if stats != 16 || heatmaps != 2 {
		t.Errorf("want 16 figures and 2 heatmaps, have %d and %d", stats, heatmaps)
	}
	for i, want := range []struct{ name, color string }{{"Halts", "red"}, {"Restarts", "blue"}} {
		a := d.Annotations.List[i]
		if a["name"] != want.name || a["iconColor"] != want.color || a["enable"] != true || a["titleFormat"] != want.name ||
			a["expr"] != eventQueries()[i].Expression {
			t.Errorf("want %+v drawn, have %v", want, a)
		}
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, fmt.Sprint(v["name"], " ", v["type"], " ", v["multi"], " ", v["sort"]))
	}
	if want := "datasource datasource <nil> <nil>, job query true 1, instance query true 1"; strings.Join(variables, ", ") != want {
		t.Errorf("want %s, have %v", want, variables)
	}
}

// TestTheUnitStartsBotdInItsMode covers the line that starts it, and the bounds of its times.
func TestTheUnitStartsBotdInItsMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"": "", "live": " --mode live", "paper": " --mode paper"} {
		unit := UnitFile(Unit{Binary: "/usr/bin/botd", Config: "/etc/botd", Mode: mode, Watchdog: 120, StopAfter: 45})
		for _, line := range []string{"ExecStart=/usr/bin/botd run -c /etc/botd" + want + " --log-format json", "WatchdogSec=120", "TimeoutStopSec=45"} {
			if !strings.Contains(unit, "\n"+line+"\n") {
				t.Errorf("mode %q: want %s, have\n%s", mode, line, unit)
			}
		}
		if has := strings.Contains(unit, "LoadCredential="); has != (mode == "live") {
			t.Errorf("mode %q: want credentials for live alone, have them %t", mode, has)
		}
	}
}
