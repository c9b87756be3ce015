package incident

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// promise is what docs/operations.md says of a kind of incident: its severity, and after how many seconds it opens and becomes critical; 0 for never.
type promise struct {
	severity         string
	opens, escalates int
}

// promises reads the table of incidents.
func promises(t *testing.T) map[string]promise {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]promise{}
	_, table, _ := strings.Cut(string(text), "| incident | severity | opened | critical |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	kinds, numbers := regexp.MustCompile("`([a-z_]+)`"), regexp.MustCompile(`\d+`)
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(row, "| "), "|")
		if len(cells) < 3 {
			t.Fatalf("a row of the table: %q", row)
		}
		opens, critical := numbers.FindAllString(cells[2], -1), ""
		if len(cells) > 3 {
			critical = numbers.FindString(cells[3])
		}
		for i, kind := range kinds.FindAllStringSubmatch(cells[0], -1) {
			p := promise{severity: strings.TrimSpace(cells[1])}
			if len(opens) > 0 {
				minutes, err := strconv.Atoi(opens[min(i, len(opens)-1)])
				if err != nil {
					t.Fatal(err)
				}
				p.opens = 60 * minutes
			}
			if hours, err := strconv.Atoi(critical); err == nil {
				p.escalates = 3600 * hours
			}
			all[kind[1]] = p
		}
	}
	return all
}

// TestOfEachIncidentAPersonIsNotifiedAsOftenAsPromised has each declared state last for 30 hours. A person is notified of one opening, of reminders when the
// document says so, of its becoming critical, and of one end.
func TestOfEachIncidentAPersonIsNotifiedAsOftenAsPromised(t *testing.T) {
	t.Parallel()
	all := promises(t)
	for _, kind := range Kinds() {
		if _, promised := all[kind]; !promised {
			t.Errorf("docs/operations.md: want %s in the table of incidents", kind)
		}
	}
	const step, lasts = 10, 30 * 3600
	for kind, p := range all {
		if !slices.Contains(Kinds(), kind) {
			t.Errorf("docs/operations.md: %s is no kind of incident", kind)
			continue
		}
		want, severity, last := []string{fmt.Sprintf("%d opened %s", p.opens, p.severity)}, p.severity, p.opens
		if p.escalates > 0 {
			last, severity = p.opens+p.escalates, "critical"
			want = append(want, fmt.Sprintf("%d escalated critical", last))
		}
		waits := []int{4 * 3600, 24 * 3600}
		if severity == "critical" {
			waits = []int{900, 3600, 4 * 3600}
		}
		for n := 0; ; n++ {
			if last += waits[min(n, len(waits)-1)]; last >= lasts {
				break
			}
			want = append(want, fmt.Sprintf("%d reminder %s", last, severity))
		}
		want = append(want, fmt.Sprintf("%d closed %s", lasts+30, severity))
		tracker, heard := new(Tracker), []string{}
		for second := 0; second < lasts+600; second += step {
			for _, r := range tracker.Update(int64(second)*1000+1, within(kind, 0, lasts)(second), true) {
				heard = append(heard, fmt.Sprintf("%d %s %s", second, r.Change, r.Incident.Severity))
			}
		}
		if !slices.Equal(heard, want) {
			t.Errorf("%s:\nwant %s\nhave %s", kind, strings.Join(want, ", "), strings.Join(heard, ", "))
		}
	}
}
