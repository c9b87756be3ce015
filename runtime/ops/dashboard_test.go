package ops

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestTheDashboardNamesOnlyWhatIsRegistered(t *testing.T) {
	t.Parallel()
	text, err := DashboardJSON()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	rows, expressions, taken := 0, 0, map[[2]int]string{}
	for _, p := range d.Panels {
		if p.Type == "row" {
			rows++
		} else if len(p.Targets) == 0 {
			t.Errorf("%s asks nothing", p.Title)
		}
		expressions += len(p.Targets)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, full := taken[[2]int{x, y}]; full || x >= 24 {
					t.Fatalf("%s lies over %s, or beside the screen", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	if rows != 6 || expressions < 28 {
		t.Errorf("want 6 rows and at least 28 expressions, have %d and %d", rows, expressions)
	}
}

// TestEveryExpressionOfTheDashboardIsParsed gives all of them to promtool as rules.
func TestEveryExpressionOfTheDashboardIsParsed(t *testing.T) {
	t.Parallel()
	queries := Annotations()
	for _, row := range Rows() {
		for _, p := range row.Panels {
			queries = append(queries, p.Lines...)
		}
	}
	var b strings.Builder
	b.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for i, q := range queries {
		expression := strings.NewReplacer("$__rate_interval", "5m", "\n", " ").Replace(q.Expression)
		fmt.Fprintf(&b, "      - record: dashboard:expression:%d\n        expr: %s\n", i, quoted(expression))
	}
	if have := promtool(t, "check", "rules", write(t, "dashboard.yml", b.String())); !strings.Contains(have,
		fmt.Sprint(len(queries), " rules found")) {
		t.Errorf("want %d rules, have %s", len(queries), have)
	}
}

func TestEveryStateOfAStrategyIsDrawn(t *testing.T) {
	t.Parallel()
	drawn := rowStrategies().Panels[0].Lines[0].Expression
	for i, word := range []string{"running", "warming_up", "latched", "halted", "quarantined", "failed"} {
		if !strings.Contains(drawn, fmt.Sprintf(`vector(%d), "state", "%s"`, i+1, word)) || strings.ReplaceAll(stateWords[i].word, " ", "_") != word {
			t.Errorf("%s: want it drawn as %d", word, i+1)
		}
	}
	for _, state := range strategyStates {
		if !strings.Contains(drawn, `"`+state+`"`) {
			t.Errorf("%s is not drawn", state)
		}
	}
}
