package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/runtime"
	"botd/runtime/view"
)

// sweeperStub is a sweeper whose processes do what a test sets.
type sweeperStub struct {
	wrong     error
	run       func(ctx context.Context, directory string) error
	asked     []string
	elsewhere string // a sweep that another process runs
}

func (s *sweeperStub) Plan(given *SweepRequest) ([]string, error) {
	return []string{"tries " + strings.Join(given.Vary, " ") + " by " + given.Search + " " + given.Sort}, s.wrong
}

func (s *sweeperStub) Run(ctx context.Context, given *SweepRequest) error {
	s.asked = append(s.asked, "run "+given.Name)
	return s.run(ctx, "")
}

func (s *sweeperStub) Resume(ctx context.Context, name string) error {
	s.asked = append(s.asked, "resume "+name)
	return s.run(ctx, "")
}

func (s *sweeperStub) Report(ctx context.Context, name, job, directory string) error {
	s.asked = append(s.asked, "report "+name+" "+job)
	return s.run(ctx, directory)
}

func (s *sweeperStub) Running(name string) bool { return name == s.elsewhere }

func (s *sweeperStub) Cancel(name string) (bool, error) {
	s.asked = append(s.asked, "cancel "+name)
	return true, nil
}

// interrupted adds an interrupted sweep with a page to a directory of sweeps, and a file that is no sweep.
func interrupted(t *testing.T, saved string) string {
	t.Helper()
	for name, text := range map[string]string{
		"cut/sweep.json":    `{"schema":1,"started":"2050-01-02T03:04:05Z","vary":["fast=1..9..1"],"search":"grid","title":{"strategy":"trend"}}`,
		"cut/progress.json": `{"done":3,"total":9}`,
		"cut/summary.json":  `{"verdict":"best of 3 tries","sharpe":1.5,"trials":3,"best":{"fast":"4"}}`,
		"cut/report.html":   `<title>its page</title>`,
		".started/x.yaml":   `x`,
		"empty/other.txt":   `x`,
	} {
		path := filepath.Join(saved, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return saved
}

// sweeping is a desk whose sweeps do what the stub sets.
func sweeping(t *testing.T, run func(context.Context, string) error) (*desk, *sweeperStub, string) {
	t.Helper()
	stub, reports := &sweeperStub{run: run}, filepath.Join(t.TempDir(), "backtests")
	d := newDeskWith(t, func(c *Config) { c.Reports, c.Sweeps, c.Sweeper = reports, interrupted(t, sweeps(t)), stub })
	t.Cleanup(d.server.sweeping.stop)
	return d, stub, reports
}

func ends(context.Context, string) error { return nil }

func lasts(ctx context.Context, _ string) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

const aSweep = `{"strategy":"trend","vary":["fast=5,10"],"file":"futures/BTC-USDT/1h.csv","name":"mine"}`

func (d *desk) sweepRuns() []SweepRun {
	var list List[SweepRun]
	d.read("/api/v1/sweeps/runs", &list)
	return list.Items
}

func TestASweepIsStartedAndAudited(t *testing.T) {
	t.Parallel()
	d, stub, _ := sweeping(t, ends)
	if code, out, text := post[SweepStart](d, "/api/v1/sweeps", strings.Replace(aSweep, `{`, `{"dry_run":true,`, 1)); code != 200 || out.Run != nil ||
		out.ID != "mine" || len(out.Effects) != 1 || out.Effects[0] != "tries fast=5,10 by grid sharpe" || len(d.sent) != 0 {
		t.Fatalf("want only a report, have %d %s", code, text)
	}
	if code, out, text := post[SweepStart](d, "/api/v1/sweeps", aSweep); code != 202 || out.Run == nil || out.Run.State != "running" {
		t.Fatalf("want it started, have %d %s", code, text)
	}
	d.server.sweeping.group.Wait()
	if runs := d.sweepRuns(); len(runs) != 1 || runs[0].State != "done" || runs[0].Kind != "run" || runs[0].StartedBy != "token" || runs[0].EndedMS == 0 {
		t.Errorf("want it done, have %+v", runs)
	}
	if len(d.sent) != 1 || d.sent[0].Audit.Object != "sweep mine" || d.sent[0].Audit.Action != "POST /api/v1/sweeps" || !slices.Equal(stub.asked,
		[]string{"run mine"}) {
		t.Errorf("want it audited, have %+v, %q", d.sent, stub.asked)
	}
	stub.run = func(context.Context, string) error { return errors.New("no candles") }
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps/cut/resume", `{}`); code != 202 {
		t.Fatalf("want it resumed, have %d %s", code, text)
	}
	d.server.sweeping.group.Wait()
	if runs := d.sweepRuns(); len(runs) != 2 || runs[0].State != "failed" || runs[0].Error != "no candles" || runs[0].Kind != "resume" {
		t.Errorf("want it failed and the newest first, have %+v", runs)
	}
}

func TestOneSweepRunsAtATimeAndCanBeCanceled(t *testing.T) {
	t.Parallel()
	d, stub, _ := sweeping(t, lasts)
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps/cut/resume", `{}`); code != 202 {
		t.Fatalf("want it resumed, have %d %s", code, text)
	}
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps", aSweep); code != 409 || !strings.Contains(text, "only one can run") || len(d.sent) != 1 {
		t.Errorf("want a second refused, and not audited as if it ran, have %d %s", code, text)
	}
	if code, _, text := post[Change](d, "/api/v1/sweeps/cut/cancel", `{}`); code != 200 {
		t.Errorf("want it canceled, have %d %s", code, text)
	}
	d.server.sweeping.group.Wait()
	if runs := d.sweepRuns(); runs[0].State != "canceled" || !strings.Contains(runs[0].Error, "by a person") {
		t.Errorf("want it canceled, have %+v", runs)
	}
	if a := d.sent[1].Audit; a.Object != "sweep cut" || a.Detail != "cancel" {
		t.Errorf("want the cancel audited, have %+v", a)
	}
	if code, _, _ := post[Change](d, "/api/v1/sweeps/cut/cancel", `{}`); code != 409 {
		t.Errorf("want nothing to cancel, have %d", code)
	}
	stub.elsewhere = "cut" // on the command line
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps/cut/resume", `{}`); code != 409 || !strings.Contains(text, "is running") {
		t.Errorf("want what runs elsewhere not resumed, have %d %s", code, text)
	}
	if code, _, _ := post[Change](d, "/api/v1/sweeps/cut/cancel", `{}`); code != 200 || stub.asked[len(stub.asked)-1] != "cancel cut" {
		t.Errorf("want the other process asked to end, have %d %q", code, stub.asked)
	}
	if items := decoded[List[view.Sweep]](t, d.want(200, "/api/v1/sweeps")).Items; items[0].Name != "cut" || items[0].State != "running" {
		t.Errorf("want it shown as running, have %+v", items[0])
	}
}

func TestTrialReportIsListed(t *testing.T) {
	t.Parallel()
	d, stub, reports := sweeping(t, func(_ context.Context, directory string) error {
		return errors.Join(os.MkdirAll(directory, 0o700), os.WriteFile(filepath.Join(directory, "report.json"), []byte(reportText), 0o600))
	})
	job := strings.Repeat("ab", 32)
	path := "/api/v1/sweeps/cut/trials/" + job + "/report"
	code, out, text := post[SweepStart](d, path, `{}`)
	if code != 202 || out.ID != "cut-abababababab" {
		t.Fatalf("want it started, have %d %s", code, text)
	}
	d.server.sweeping.group.Wait()
	if have := entries(t, reports); !slices.Equal(have, []string{"cut-abababababab"}) || d.sweepRuns()[0].Report != "cut-abababababab" {
		t.Errorf("want its report alone, have %q", have)
	}
	if _, out, text := post[SweepStart](d, path, `{}`); out.Run != nil || len(stub.asked) != 1 || len(d.sent) != 1 {
		t.Errorf("want the report that is there, have %s", text)
	}
	stub.run = func(_ context.Context, directory string) error {
		return errors.Join(os.MkdirAll(directory, 0o700), errors.New("no such trial"))
	}
	if code, _, text := post[SweepStart](d, strings.Replace(path, "abab", "cdcd", 1), `{}`); code != 202 {
		t.Fatalf("have %d %s", code, text)
	}
	d.server.sweeping.group.Wait()
	if have := entries(t, reports); len(have) != 1 || d.sweepRuns()[0].State != "failed" {
		t.Errorf("want nothing half done, have %q", have)
	}
}

func TestInvalidSweepIsRefused(t *testing.T) {
	t.Parallel()
	d, stub, _ := sweeping(t, ends)
	for body, part := range map[string]string{
		`{}`:                              "strategy is missing",
		`{"strategy":"trend"}`:            "file is missing",
		`{"strategy":"trend","file":"x"}`: "vary is missing",
		strings.Replace(aSweep, "mine", "../x", 1):                                      "want letters",
		strings.Replace(aSweep, "mine", "runs", 1):                                      "not the word runs",
		strings.Replace(aSweep, "5,10", strings.Repeat("5", 501), 1):                    "longer than 500",
		strings.Replace(aSweep, `"fast=5,10"`, `"a=1"`+strings.Repeat(`,"a=1"`, 20), 1): "exceed the maximum of 20",
		strings.Replace(aSweep, `{`, `{"trials":10001,`, 1):                             "from 1 to 10000",
	} {
		if code, _, text := post[SweepStart](d, "/api/v1/sweeps", body); code != 400 || !strings.Contains(text, part) {
			t.Errorf("%s: want 400 with %q, have %d %s", body, part, code, text)
		}
	}
	for _, name := range []string{"cut", "first"} {
		if code, _, text := post[SweepStart](d, "/api/v1/sweeps", strings.Replace(aSweep, "mine", name, 1)); code != 409 || !strings.Contains(text, "already") {
			t.Errorf("%s: want 409, have %d %s", name, code, text)
		}
	}
	for _, path := range []string{"/api/v1/sweeps/none/resume", "/api/v1/sweeps/none/cancel", "/api/v1/sweeps/empty/resume", "/api/v1/sweeps/..%2Fx/resume",
		"/api/v1/sweeps/empty%2F/resume", "/api/v1/sweeps/cut/trials/xyz/report", "/api/v1/sweeps/none/trials/" + strings.Repeat("ab", 32) + "/report"} {
		if code, _, text := post[SweepStart](d, path, `{}`); code != 404 {
			t.Errorf("%s: want 404, have %d %s", path, code, text)
		}
	}
	stub.wrong = errors.New("no such parameter")
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps", aSweep); code != 400 || !strings.Contains(text, "no such parameter") {
		t.Errorf("want what is wrong with it, have %d %s", code, text)
	}
	if len(stub.asked) != 0 || len(d.sent) != 0 {
		t.Errorf("want nothing done, have %q %+v", stub.asked, d.sent)
	}
	none := newDesk(t)
	if code, _, text := post[SweepStart](none, "/api/v1/sweeps", aSweep); code != 409 || !strings.Contains(text, "runs no sweeps") {
		t.Errorf("without a sweeper: want 409, have %d %s", code, text)
	}
}

func TestASweepsPageHasNoOriginAndOnlyTheDashboardFramesIt(t *testing.T) {
	t.Parallel()
	d, _, _ := sweeping(t, ends)
	have := d.answer("GET", "/api/v1/sweeps/cut/report", "", bearer(viewerToken))
	policy := have.Header().Get("Content-Security-Policy")
	if have.Code != http.StatusOK || !strings.Contains(have.Body.String(), "its page") || !strings.HasPrefix(policy, "sandbox allow-scripts;") ||
		strings.Contains(policy, "same-origin") || !strings.Contains(policy, "frame-ancestors 'self'") || have.Header().Get("X-Frame-Options") != "SAMEORIGIN" {
		t.Errorf("have %d %v %s", have.Code, have.Header(), have.Body)
	}
	for _, name := range []string{"first", "none", "..", "%2e%2e%2fcut"} {
		if code := d.answer("GET", "/api/v1/sweeps/"+name+"/report", "", bearer(viewerToken)).Code; code != 404 && code != 301 && code != 307 {
			t.Errorf("%s: want no page, have %d", name, code)
		}
	}
	one := decoded[List[view.Sweep]](t, d.want(200, "/api/v1/sweeps")).Items[0]
	if one.Name != "cut" || one.State != "interrupted" || one.Done != 3 || one.Total != 9 || !one.Page || one.Verdict != "best of 3 tries" ||
		one.Strategy != "trend" || one.Best["fast"] != "4" || one.At.Year() != 2050 {
		t.Errorf("want what is known of it without its rows, have %+v", one)
	}
}

// goSweeps starts sweeps and a report of a trial, and cancels one.
func (v *visitor) goSweeps(stub *sweeperStub) {
	const body = `{"strategy":"trend","vary":["fast=5..20..5"],"where":"fast < 20","search":"tpe","trials":50,"seed":2,"sort":"profit",` +
		`"require":"trades >= 3","split":"70%%","file":"futures/BTC-USDT/1h.csv","from":"2024-01-01","to":"2024-02-01","name":"%s"}`
	job := strings.Repeat("ab", 32)
	v.good("sweeps", "", "")
	v.good("sweep_page", "cut", "")
	v.call(http.StatusNotFound, "sweep_page", "none", "", bearer(testToken))
	v.good("start_sweep", "?dry_run=true", `{"strategy":"trend","vary":["fast=5"],"file":"x.csv","dry_run":true}`)
	keyed := func(key string) func(*http.Request) {
		return func(r *http.Request) { bearer(testToken)(r); r.Header.Set("Idempotency-Key", key) }
	}
	asks := map[string][2]string{"start_sweep": {"", fmt.Sprintf(body, "mine")}, "resume_sweep": {"cut", ""}, "report_trial": {"cut " + job, ""}}
	for _, id := range slices.Sorted(maps.Keys(asks)) {
		where, given := asks[id][0], asks[id][1]
		stub.run = ends
		v.call(http.StatusForbidden, id, where, given, bearer(viewerToken))
		v.call(http.StatusBadRequest, id, where+"?dry_run=maybe", given, bearer(testToken))
		v.good(id, where+"?dry_run=true", given)
		v.fails = runtime.ErrStopped
		v.call(http.StatusServiceUnavailable, id, where, given, bearer(testToken))
		v.fails = nil
		v.call(http.StatusAccepted, id, where, given, keyed(id))
		v.server.sweeping.group.Wait()
		v.call(http.StatusAccepted, id, where, given, keyed(id)) // answered again, not run again
		v.call(http.StatusUnprocessableEntity, id, where+"?dry_run=true", given, keyed(id))
		v.Operations[id].Parameters["Idempotency-Key"] = true
	}
	v.call(http.StatusNotFound, "resume_sweep", "none", "", bearer(testToken))
	v.call(http.StatusNotFound, "report_trial", "none "+job, "", bearer(testToken))
	stub.run = lasts
	v.call(http.StatusAccepted, "resume_sweep", "cut", "", bearer(testToken))
	for _, id := range []string{"start_sweep", "resume_sweep", "report_trial"} {
		v.call(http.StatusConflict, id, asks[id][0], asks[id][1], bearer(testToken))
	}
	v.good("sweep_runs", "", "")
	v.good("cancel_sweep", "cut?dry_run=true", "")
	v.call(http.StatusForbidden, "cancel_sweep", "cut", "", bearer(viewerToken))
	v.call(http.StatusBadRequest, "cancel_sweep", "cut?dry_run=maybe", "", bearer(testToken))
	v.fails = runtime.ErrStopped
	v.call(http.StatusServiceUnavailable, "cancel_sweep", "cut", "", bearer(testToken))
	v.fails = nil
	v.call(http.StatusOK, "cancel_sweep", "cut", "", keyed("cancel"))
	v.call(http.StatusUnprocessableEntity, "cancel_sweep", "cut?dry_run=true", "", keyed("cancel"))
	v.Operations["cancel_sweep"].Parameters["Idempotency-Key"] = true
	v.server.sweeping.group.Wait()
	v.call(http.StatusConflict, "cancel_sweep", "cut", "", bearer(testToken))
	v.call(http.StatusNotFound, "cancel_sweep", "none", "", bearer(testToken))
	v.good("sweep_runs", "", "")
}

// While another process runs the sweep it is not resumed. A botd without a directory of sweeps or reports runs none.
func TestASweepThatAnotherProcessRunsIsCanceledThere(t *testing.T) {
	t.Parallel()
	d, stub, _ := sweeping(t, ends)
	stub.elsewhere = "cut"
	const does = "the sweep cut ends; finished trials are saved"
	for dry, asked := range map[string]int{"?dry_run=true": 0, "": 1} {
		stub.asked = nil
		if code, out, text := post[Change](d, "/api/v1/sweeps/cut/cancel"+dry, ""); code != 200 || !slices.Equal(out.Effects, []string{does}) ||
			out.DryRun != (dry != "") ||
			len(stub.asked) != asked {
			t.Errorf("%q: want it canceled, have %d %s, %v", dry, code, text, stub.asked)
		}
	}
	if code, _, text := post[SweepStart](d, "/api/v1/sweeps/cut/resume", ""); code != 409 || !strings.Contains(text, "the sweep is running") {
		t.Errorf("want it not resumed while it runs, have %d %s", code, text)
	}
	stub.elsewhere = ""
	if code, _, text := post[Change](d, "/api/v1/sweeps/cut/cancel", ""); code != 409 || !strings.Contains(text, "there is nothing to cancel") {
		t.Errorf("one that does not run: have %d %s", code, text)
	}
	for name, change := range map[string]func(*Config){
		"sweeps": func(c *Config) { c.Reports, c.Sweeper = "reports", stub }, "reports": func(c *Config) { c.Sweeps, c.Sweeper = sweeps(t), stub },
	} {
		without := newDeskWith(t, change)
		if code, _, text := post[SweepStart](without, "/api/v1/sweeps", aSweep); code != 409 || !strings.Contains(text, "runs no sweeps") {
			t.Errorf("without a place for %s: want 409, have %d %s", name, code, text)
		}
	}
}
