package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"botd/backtest"
	"botd/backtest/search"
	"botd/internal/failure"
)

// coordinating is a coordinator of a sweep whose record is on the server, unless that is nil.
func coordinating(t *testing.T, s *store, name string) (*Coordinator, *logbook) {
	t.Helper()
	log := &logbook{}
	c := &Coordinator{Log: log.log, Progress: func(string) {}, store: s, key: keyOf(name), known: none, arrived: map[string]*arrival{}, done: map[string]bool{},
		workers: map[string]*WorkerStatus{}, checks: map[string]*check{}, rows: make(chan arrival, 16),
		sweep: Sweep{Name: name, State: Running, Program: program, Spec: crossings(name)}}
	if s == nil {
		return c, log
	}
	if _, err := s.consumer(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	if err := c.show(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, log
}

// queued takes the messages that are on the server, oldest first.
func queued(t *testing.T, s *store) (all []message) {
	t.Helper()
	about, err := s.jobs.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := s.consumer(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	if about.State.Msgs == 0 {
		return nil
	}
	batch, err := consumer.Fetch(int(about.State.Msgs), jetstream.FetchMaxWait(5*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		var one message
		if err := errors.Join(json.Unmarshal(m.Data(), &one), m.DoubleAck(t.Context())); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// sizes are the numbers of jobs of messages.
func sizes(all []message) (numbers []int) {
	for i := range all {
		numbers = append(numbers, len(all[i].Jobs))
	}
	return numbers
}

// requested is a batch of jobs named j0, j1 and so on.
func requested(count int) *batch {
	b := &batch{trials: map[string][]*backtest.Trial{}, out: map[string]bool{}, ended: func(*backtest.Trial) error { return nil }, latest: time.Now()}
	for n := range count {
		name := fmt.Sprint("j", n)
		one := &backtest.Trial{Job: name, Params: search.Choice{"fast": name}}
		b.trials[name], b.queue = []*backtest.Trial{one}, append(b.queue, job{Job: name, Choice: one.Params})
	}
	return b
}

// rowOf is a row of a job from a worker.
func rowOf(t *testing.T, job, worker string) row {
	t.Helper()
	text, err := json.Marshal(&backtest.Trial{Job: job, Seen: &backtest.Column{FinalEquity: "7"}})
	if err != nil {
		t.Fatal(err)
	}
	return row{Worker: worker, Seconds: 2, Trial: text}
}

func TestAFixedHundredthOfTheJobsRunsTwice(t *testing.T) {
	t.Parallel()
	count := 0
	for n := range 100_000 {
		if name := fmt.Sprint(n); checked(name) {
			if count++; !checked(name) {
				t.Fatalf("%s: want the same answer each time", name)
			}
		}
	}
	if count < 900 || count > 1_100 {
		t.Errorf("want about 1000 of 100000, have %d", count)
	}
	var first []string
	for n := range 1_000 {
		if name := fmt.Sprint(n); checked(name) {
			first = append(first, name)
		}
	}
	if want := []string{"80", "97", "111", "153", "475", "612", "695", "801", "916"}; !slices.Equal(first, want) {
		t.Errorf("want the same ones in every version, %v, have %v", want, first)
	}
}

func TestTwoRowsOfOneJobMustBeEqual(t *testing.T) {
	t.Parallel()
	first, second := rowOf(t, "a", "one"), rowOf(t, "a", "two")
	second.Seconds = 9
	if err := compared(&first, &second); err != nil {
		t.Errorf("equal: have %v", err)
	}
	second.Trial = json.RawMessage(`{"job":"a"}`)
	err := compared(&first, &second)
	if codeOf(err) != failure.Internal || !strings.Contains(err.Error(), "one: "+string(first.Trial)) || !strings.Contains(err.Error(), `two: {"job":"a"}`) {
		t.Errorf("want both named, have %v", err)
	}
}

// TestACoordinatorOfThisMachineThatHasEndedIsOver covers this process, a process that has ended, and one of
// another machine.
func TestACoordinatorOfThisMachineThatHasEndedIsOver(t *testing.T) {
	t.Parallel()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	machine, _, _ := strings.Cut(host(), "/")
	for coordinator, want := range map[string]bool{host(): false, fmt.Sprintf("%s/%d", machine, ended.Process.Pid): true,
		fmt.Sprintf("x%s/%d", machine, ended.Process.Pid): false, machine: false, machine + "/x": false} {
		if have := hasEnded(coordinator); have != want {
			t.Errorf("%s: want over %t", coordinator, want)
		}
	}
}

// TestAMessageIsTenSecondsOfWork uses trials of different lengths, and few that have ended.
func TestAMessageIsTenSecondsOfWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timed   int
		seconds float64
		want    int
	}{{0, 0, 1}, {3, 0.003, 1}, {4, 4, 4}, {5, 0, 5}, {100, 100, 10}, {100, 50, 20}, {1_000, 0.001, 500}, {1_000, 0, 500}, {499, 0, 499}, {1_000, 20_000, 1}} {
		if have := (&Coordinator{timed: c.timed, seconds: c.seconds}).batchSize(); have != c.want {
			t.Errorf("%d trials in %g s: want %d a message, have %d", c.timed, c.seconds, c.want, have)
		}
	}
}

// TestWorkersGetEnoughWorkAndAllEndTogether counts the trials of each message.
func TestWorkersGetEnoughWorkAndAllEndTogether(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	for _, c := range []struct {
		name           string
		timed, workers int
		seconds        float64
		jobs           int
		want           []int
	}{
		{"the first trials, without a worker", 0, 0, 0, 100, []int{1, 1, 1, 1}}, {"the first trials of two workers", 0, 2, 0, 100, []int{1, 1, 1, 1, 1, 1}},
		{"trials of a second", 100, 2, 100, 100, []int{10, 10, 10, 10, 10, 10}}, {"the last trials", 100, 2, 100, 9, []int{2, 2, 2, 2, 1}},
		{"fewer than workers", 100, 2, 100, 3, []int{1, 1, 1}}, {"after all workers have left", 100, 0, 100, 9, []int{9}},
	} {
		coordinator, _ := coordinating(t, s, c.name)
		coordinator.timed, coordinator.seconds = c.timed, c.seconds
		for n := range c.workers {
			coordinator.workers[fmt.Sprint(n)] = &WorkerStatus{ID: fmt.Sprint(n), Program: program, Slots: 1}
		}
		coordinator.workers["other"] = &WorkerStatus{ID: "other", Program: another, Slots: 50}
		b := requested(c.jobs)
		if err := coordinator.fill(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		all := queued(t, s)
		sum := 0
		for _, n := range c.want {
			sum += n
		}
		if have := sizes(all); !slices.Equal(have, c.want) || len(b.out) != sum || len(b.queue) != c.jobs-sum {
			t.Errorf("%s: want %v, have %v, %d out and %d queued", c.name, c.want, have, len(b.out), len(b.queue))
		}
		if len(all) > 0 && (all[0].Sweep != keyOf(c.name) || all[0].Not != "" || all[0].Jobs[0].Job != "j0" || all[0].Jobs[0].Choice["fast"] != "j0") {
			t.Errorf("%s: have %+v", c.name, all[0])
		}
	}
}

// TestARowEndsItsTrialsOnce passes rows of requested jobs, rows of others, and invalid texts.
func TestARowEndsItsTrialsOnce(t *testing.T) {
	t.Parallel()
	c, _ := coordinating(t, nil, "x")
	c.timed, c.known = 5, func(job string) bool { return job == "earlier" }
	b := requested(2)
	b.trials["j0"] = append(b.trials["j0"], &backtest.Trial{Job: "j0"}) // two choices of one job
	b.out["j0"] = true
	var ended []*backtest.Trial
	b.ended = func(one *backtest.Trial) error { ended = append(ended, one); return nil }
	take := func(job string) error {
		return c.handle(t.Context(), b, &arrival{kind: "row", job: job, row: rowOf(t, job, "one")})
	}
	for range 2 { // the second one is late
		if err := take("j0"); err != nil {
			t.Fatal(err)
		}
	}
	if len(ended) != 2 || ended[0].Seen == nil || ended[1].Seen == nil || ended[0].Seen.FinalEquity != "7" || c.sweep.Ended != 2 || c.timed != 6 ||
		c.seconds != 2 ||
		len(b.out) != 0 || b.trials["j0"] != nil || !c.done["j0"] || len(c.arrived) != 0 {
		t.Errorf("want both trials ended once, have %d, %+v", len(ended), c.sweep)
	}
	if err := errors.Join(take("later"), take("earlier")); err != nil || len(c.arrived) != 1 || c.arrived["later"] == nil {
		t.Errorf("want the row of a job that is not requested yet kept, have %v, %v", c.arrived, err)
	}
	for _, text := range []string{`{`, `{"job":"j0","is":{}}`, `{"job":"j1"}`} {
		bad := rowOf(t, "j1", "one")
		bad.Trial = json.RawMessage(text)
		err := c.endTrials(t.Context(), b, &arrival{kind: "row", job: "j1", row: bad})
		if err == nil || err.Error() != "worker one: the row of job j1 is not a trial" {
			t.Errorf("%s: have %v", text, err)
		}
	}
	full := errors.New("the disk is full")
	b.ended = func(*backtest.Trial) error { return full }
	if err := take("j1"); !errors.Is(err, full) {
		t.Errorf("want the failure, have %v", err)
	}
}

// TestAFailureOnAWorkerEndsTheSweep covers the failure of a requested job, and one of an earlier attempt.
func TestAFailureOnAWorkerEndsTheSweep(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, _ := coordinating(t, s, "x")
	b := requested(1)
	for job, want := range map[string]string{"j0": "worker one, with map[fast:j0]: out of memory", "other": ""} {
		if _, err := s.rows.Put(t.Context(), c.key+".failed."+job, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		err := c.handle(t.Context(), b, &arrival{kind: "failed", job: job, row: row{Worker: "one", Failure: "out of memory"}})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: want %q, have %v", job, want, err)
		}
		if _, err := s.rows.Get(t.Context(), c.key+".failed."+job); !errors.Is(err, jetstream.ErrKeyNotFound) {
			t.Errorf("%s: want it tried again by a resumed sweep, have %v", job, err)
		}
	}
}

// TestTheFirstTrialIsRunAgainByAnotherWorker lets its second row arrive after the first, and before it.
func TestTheFirstTrialIsRunAgainByAnotherWorker(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, _ := coordinating(t, s, "x")
	b := requested(2)
	if err := c.handle(t.Context(), b, &arrival{kind: "row", job: "j0", row: rowOf(t, "j0", "one")}); err != nil {
		t.Fatal(err)
	}
	if all := queued(t, s); len(all) != 1 || all[0].Not != "one" || len(all[0].Jobs) != 1 || all[0].Jobs[0].Job != "j0" || c.checks["j0"].requestedAt.IsZero() {
		t.Errorf("want it handed to another worker, have %+v", all)
	}
	if err := c.handle(t.Context(), b, &arrival{kind: "check", job: "j0", row: rowOf(t, "j0", "two")}); err != nil || c.sweep.Checked != 1 {
		t.Errorf("want it counted, have %d, %v", c.sweep.Checked, err)
	}
	if err := c.handle(t.Context(), b, &arrival{kind: "row", job: "j1", row: rowOf(t, "j1", "one")}); err != nil || len(queued(t, s)) != 0 {
		t.Errorf("the second trial: want it run once, have %v", err)
	}
	early := requested(1)
	c.checks = map[string]*check{}
	for _, a := range []arrival{{kind: "check", job: "j0", row: rowOf(t, "j0", "two")}, {kind: "row", job: "j0", row: rowOf(t, "j0", "one")}} {
		if err := c.handle(t.Context(), early, &a); err != nil {
			t.Fatal(err)
		}
	}
	if c.sweep.Checked != 2 || len(queued(t, s)) != 0 {
		t.Errorf("the second row first: want it counted without another run, have %d", c.sweep.Checked)
	}
	first, wrong := rowOf(t, "j1", "one"), row{Worker: "two", Trial: json.RawMessage(`{}`)}
	wrong.First = &first
	if err := c.handle(t.Context(), b, &arrival{kind: "check", job: "j1", row: wrong}); codeOf(err) != failure.Internal {
		t.Errorf("a row that differs: want the sweep ended, have %v", err)
	}
}

// TestJobsThatNoMessageIsAboutAreHandedOutAgain lets the server lose a message, and the coordinator miss a
// row.
func TestJobsThatNoMessageIsAboutAreHandedOutAgain(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, log := coordinating(t, s, "x")
	c.timed = 5
	b := requested(3)
	b.queue, b.out = nil, map[string]bool{"j0": true, "j1": true, "j2": true}
	text, err := json.Marshal(rowOf(t, "j1", "one"))
	if err == nil {
		_, err = s.rows.Put(t.Context(), c.key+".row.j1", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	poll := func(after time.Duration) {
		t.Helper()
		if err := c.missing(t.Context(), b, b.latest.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	poll(silent - time.Millisecond)
	if len(b.queue) != 0 {
		t.Errorf("within %s: want nothing handed out, have %v", silent, b.queue)
	}
	if sent, err := c.send(t.Context(), &message{Sweep: c.key}); err != nil || !sent {
		t.Fatal(sent, err)
	}
	poll(silent)
	if len(b.queue) != 0 {
		t.Errorf("with a message: want nothing handed out, have %v", b.queue)
	}
	queued(t, s)
	poll(silent)
	if len(b.queue) != 2 || b.queue[0].Job != "j0" || b.queue[1].Job != "j2" || b.queue[1].Choice["fast"] != "j2" || len(b.out) != 0 || c.sweep.Ended != 1 ||
		!log.has("2 trials without a message are handed out again") {
		t.Errorf("want the row taken and the others handed out, have %v, %v, %s", b.queue, b.out, log.text())
	}
	b.trials = nil
	if poll(time.Hour); len(b.queue) != 2 {
		t.Errorf("with nothing requested: have %v", b.queue)
	}
}

// TestAMinuteOfTrialsIsTheRate counts trials of the last minute, older ones, and a second run that no worker
// has taken.
func TestAMinuteOfTrialsIsTheRate(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, _ := coordinating(t, s, "x")
	var progress []string
	c.Progress = func(line string) { progress = append(progress, line) }
	now := time.Now()
	c.recent, c.sweep.Ended = []mark{{now.Add(-2 * time.Minute), 0}, {now.Add(-61 * time.Second), 10}, {now.Add(-50 * time.Second), 100}}, 200
	first := rowOf(t, "j0", "one")
	c.checks["j0"] = &check{job: job{Job: "j0"}, first: &first, requestedAt: now.Add(-2*ackWait - time.Second)}
	c.checks["j1"] = &check{job: job{Job: "j1"}, first: &first, requestedAt: now.Add(-2*ackWait + 5*time.Second)}
	second := rowOf(t, "j2", "two")
	c.checks["j2"], c.checks["j3"] = &check{job: job{Job: "j2"}, first: &first, second: &second}, &check{job: job{Job: "j3"}, second: &second}
	if err := c.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.sweep.Rate < 1.8 || c.sweep.Rate > 2 || len(c.recent) != 2 {
		t.Errorf("want 100 trials in 50 s, have %g of %d marks", c.sweep.Rate, len(c.recent))
	}
	if all := queued(t, s); len(all) != 1 || all[0].Jobs[0].Job != "j0" || all[0].Not != "one" {
		t.Errorf("want the second run that is late handed out again, have %+v", all)
	}
	if found, _, err := s.sweep(t.Context(), c.key); err != nil || found.Ended != 200 || found.Rate != c.sweep.Rate || now.Sub(found.Updated) > time.Second {
		t.Errorf("want its progress on the server, have %+v, %v", found, err)
	}
	for n, c := range []struct {
		recent []mark
		rate   float64
	}{{[]mark{{now.Add(-50 * time.Second), 150}, {now.Add(-20 * time.Second), 190}}, 1}, {[]mark{{now.Add(-100 * time.Second), 0}}, 2}} {
		other, _ := coordinating(t, s, fmt.Sprint(n))
		other.recent, other.sweep.Ended = slices.Clone(c.recent), 200
		if err := other.beat(t.Context()); err != nil || other.sweep.Rate > c.rate || other.sweep.Rate < 0.9*c.rate || len(other.recent) != len(c.recent)+1 {
			t.Errorf("%v: want %g a second, of all marks, have %g of %d, %v", c.recent, c.rate, other.sweep.Rate, len(other.recent), err)
		}
	}
	if len(progress) != 1 || !strings.HasSuffix(progress[0], "/s, 0 at work") || progress[0][0] != '2' && progress[0][:2] != "1." {
		t.Errorf("have %q", progress)
	}
}

// TestWorkersThatComeAndGoAreLogged adds a worker of the program and one of another, and removes them.
func TestWorkersThatComeAndGoAreLogged(t *testing.T) {
	t.Parallel()
	c, log := coordinating(t, nil, "x")
	own, strange := &WorkerStatus{ID: "one", Program: program, Slots: 3}, &WorkerStatus{ID: "two", Program: another, Version: "0.9", Slots: 7}
	lines := ""
	c.Progress = func(line string) { lines += line + "\n" }
	c.present(map[string]*WorkerStatus{"1": own, "2": strange})
	c.present(map[string]*WorkerStatus{"1": own, "2": strange})
	c.present(map[string]*WorkerStatus{"1": own, "2": {ID: "two", Program: another, Slots: 7, Refused: "the sweep is of another botd"}})
	c.present(map[string]*WorkerStatus{"1": own})
	want := []string{"worker one: 3 at a time", "worker two takes no part: it is botd 0.9 (program " + another[:16] + ")",
		"worker two takes no part: the sweep is of another botd", "worker two has ended, or cannot be reached"}
	have := slices.Clone(log.lines)
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) || lines != strings.Repeat("0/s, 3 at work\n", 4) {
		t.Errorf("want %q, have %q and %q", want, have, lines)
	}
	if c.another("one") || !c.another("two") {
		t.Error("want the one of the program to be another than two, and none another than it")
	}
}

// TestASecondRunThatNobodyCanDoIsNamed runs a single worker.
func TestASecondRunThatNobodyCanDoIsNamed(t *testing.T) {
	t.Parallel()
	_, s := served(t)
	c, log := coordinating(t, s, "x")
	first, second := rowOf(t, "j0", "one"), rowOf(t, "j1", "two")
	c.checks["j0"], c.checks["j1"] = &check{first: &first, requestedAt: time.Now()}, &check{first: &first, second: &second}
	c.checks["j2"] = &check{second: &second}
	c.sweep.Checked = 1
	if err := c.checksEnd(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !log.has("1 trials were run by two workers, with the same rows") ||
		!log.has("warning: 1 trials were to be checked by a second worker, but there was none") {
		t.Errorf("have %s", log.text())
	}
}
