package reload

import (
	"strings"
	"testing"
	"time"
)

func TestRemovalWaitsUntilFileStaysAbsent(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		polls []string // "second:absent names:left", comma between names
		want  []int
	}{
		{"nothing is absent", []string{"0::1"}, []int{NotAbsent}},
		{"absent for 4 s", []string{"0:a:1", "2:a:1", "4::1"}, []int{TooYoung, TooYoung, NotAbsent}},
		{"absent for 30 s", []string{"0:a:1", "2:a:1", "29:a:1", "30:a:1"}, []int{TooYoung, TooYoung, TooYoung, Ripe}},
		{"one poll after a long sleep", []string{"0:a:1", "600:a:1"}, []int{TooYoung, Ripe}},
		{"it came back in between", []string{"0:a:1", "20::1", "22:a:1", "50:a:1", "52:a:1"}, []int{TooYoung, NotAbsent, TooYoung, TooYoung, Ripe}},
		{"another one is younger", []string{"0:a:1", "25:a,b:1", "31:a,b:1", "55:a,b:1"}, []int{TooYoung, TooYoung, TooYoung, Ripe}},
		{"all of them, for ever", []string{"0:a,b:0", "60:a,b:0", "86400:a,b:0"}, []int{AllAbsent, AllAbsent, AllAbsent}},
		{"all of them, then one is back", []string{"0:a,b:0", "60:a:1"}, []int{AllAbsent, Ripe}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var a Absences
			for i, poll := range c.polls {
				parts := strings.Split(poll, ":")
				at, err := time.ParseDuration(parts[0] + "s")
				if err != nil {
					t.Fatal(err)
				}
				var absent []string
				if parts[1] != "" {
					absent = strings.Split(parts[1], ",")
				}
				if have := a.Poll(start.Add(at), absent, parts[2] == "1"); have != c.want[i] {
					t.Errorf("poll %s: want %d, have %d", poll, c.want[i], have)
				}
				if declared := len(a.degraded()) > 0; declared != (len(absent) > 0) {
					t.Errorf("poll %s: want it declared while something is absent, have %t", poll, declared)
				}
			}
		})
	}
}

func TestPendingRemovalIsDeclared(t *testing.T) {
	t.Parallel()
	var a Absences
	a.Poll(time.UnixMilli(1_000), []string{"b", "a"}, false)
	a.describe([]string{"a: close 0.5 of futures BTC-USDT"})
	all := a.degraded()
	if len(all) != 1 || all[0].State != "removal" || all[0].SinceMS != 1_000 || !strings.Contains(all[0].Remedy, "botd reload") {
		t.Fatalf("want one state with its time and remedy, have %+v", all)
	}
	if want := "the files of a, b are absent: no strategy is left, and only an explicit reload removes all of them; " +
		"it would: a: close 0.5 of futures BTC-USDT"; all[0].Cause != want {
		t.Errorf("the cause: want %q, have %q", want, all[0].Cause)
	}
}
