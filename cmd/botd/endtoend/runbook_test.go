//go:build unix

package endtoend

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/internal/failure"
	"botd/internal/startclock"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// runbook runs the commands of docs/operations.md unchanged, in a shell in another directory than the
// configuration's. Only the prefixes of five paths are replaced by the test's.
type runbook struct {
	*place
	address string
	blocks  map[string][]string // by heading
	daemon  *exec.Cmd
	log     *Trace
	waits   bool // whether a start finds no exchange
}

func newRunbook(t *testing.T) *runbook {
	t.Helper()
	b := &runbook{place: newPlace(t), blocks: map[string][]string{}}
	text, err := os.ReadFile(filepath.Join(above, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	title := ""
	for line := range strings.Lines(string(text)) {
		if name, found := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); found && strings.HasPrefix(line, "#") {
			title = strings.TrimSpace(name)
		} else if command, found := strings.CutPrefix(line, "    "); found {
			b.blocks[title] = append(b.blocks[title], command)
		}
	}
	b.address = b.free()
	// systemctl passes its verb to the test, and waits until that is done, as for a unit of Type=notify.
	b.file("bin/systemctl", "#!/bin/sh\nask=\"$UNIT/$1\"; touch \"$ask\"; while [ -e \"$ask\" ]; do sleep 0.05; done\n", 0o700)
	for _, command := range []string{"timedatectl", "chronyc", "chown"} { // they concern the machine, which a test leaves alone
		b.file("bin/"+command, "#!/bin/sh\necho \"$(basename \"$0\") $*\"\n", 0o700)
	}
	for _, directory := range []string{"unit", "elsewhere", "backups", "mnt"} {
		if err := os.Mkdir(b.at(directory), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// at returns a path of the test.
func (b *runbook) at(name string) string { return filepath.Join(b.directory, name) }

// unit does what systemctl was called for.
func (b *runbook) unit(verb string) {
	b.t.Helper()
	if verb != "start" {
		if err := b.daemon.Process.Signal(syscall.SIGTERM); err != nil {
			b.t.Fatal(err)
		}
		_ = b.daemon.Wait() // without its data directory it ends with an error
	}
	if verb != "stop" {
		b.daemon, b.log = b.start("daemon", "run", "-c", "etc", "--mode", "live", "--log-format", "json")
		if b.waits {
			b.log.wait(b.t, `"daemon.waiting"`)
			return
		}
		b.log.wait(b.t, `"daemon.reconciled"`)
	}
}

// follow runs the commands of a situation, and returns their output.
func (b *runbook) follow(situation string) string {
	b.t.Helper()
	lines := b.blocks[situation]
	if len(lines) == 0 {
		b.t.Fatalf("docs/operations.md: want commands for %q, have none", situation)
	}
	script := strings.NewReplacer("/etc/botd", b.at("etc"), "/var/lib/botd", b.at("data"),
		"/var/backups/botd", b.at("backups"), "/root", b.at("root"), "/mnt", b.at("mnt")).Replace(strings.Join(lines, ""))
	output := &Trace{}
	shell := exec.Command("sh", "-eux", "-c", script)
	shell.Dir, shell.Stdout, shell.Stderr = b.at("elsewhere"), output, output
	shell.Env = append(os.Environ(), "PATH="+b.at("bin")+":"+os.Getenv("PATH"), "UNIT="+b.at("unit"),
		"BOTD_CONFIG="+b.at("etc"))
	if err := shell.Start(); err != nil {
		b.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- shell.Wait() }()
	for again := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-done:
			again.Stop()
			if err != nil {
				b.t.Fatalf("%s: %v\n%s\n%s", situation, err, output, b.log)
			}
			return output.String()
		case <-again.C:
			for _, verb := range []string{"start", "stop", "restart"} {
				if ask := filepath.Join(b.directory, "unit", verb); exists(ask) {
					b.unit(verb)
					if err := os.Remove(ask); err != nil {
						b.t.Fatal(err)
					}
				}
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// shows waits until botd status has a text, and none of the others.
func (b *runbook) shows(want string, none ...string) {
	b.t.Helper()
	text, again := "", time.NewTicker(500*time.Millisecond)
	defer again.Stop()
	for range 240 {
		status := exec.Command(self(b.t), "status", "-c", "etc")
		status.Dir = b.directory
		output, err := status.CombinedOutput()
		text, b.sinks["botd status"] = string(output), string(output)
		answered := status.ProcessState.ExitCode() != failure.Unavailable // a daemon that waited for the exchange restarts once that is available
		if answered {
			wantExit(b.t, "botd status", err, failure.OK)
		}
		if answered && strings.Contains(text, want) && !slices.ContainsFunc(none, func(other string) bool { return strings.Contains(text, other) }) {
			return
		}
		<-again.C
	}
	b.t.Fatalf("two minutes without %q and not %q in botd status: %s", want, none, text)
}

// renewed is a proxy to the exchange that also knows the account's key under another name.
func (b *runbook) renewed() (address string) {
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", b.address
		if r.In.Header.Get("x-api-key") == "renewed" {
			r.Out.Header.Set("x-api-key", "runbook")
		}
	}, ErrorLog: log.New(io.Discard, "", 0)} // botd is stopped in the middle of requests
	server := httptest.NewServer(proxy)
	b.t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestRunbookWorks goes through a year's bad days with one account: an upgrade that is reverted, maintenance of
// the exchange, a removed journal, a lost machine, a new key, and a position that is closed from a phone.
func TestRunbookWorks(t *testing.T) {
	t.Parallel()
	b := newRunbook(t)
	phone := newMessenger(t)
	b.file("telegram", canaryTelegram, 0o600)
	b.file("etc/key", "runbook", 0o600)
	b.file("etc/secret", "a secret", 0o600)
	b.file("etc/botd.yaml", fmt.Sprintf("mode: live\nexchange: {base_url: 'http://%s', key_file: %q, secret_file: %q, settle: "+
		"{window: 5s, visibility: 1s, staleness: 500ms}}\ndata_dir: %q\nlisten: off\ntelegram: {token_file: %q, operators: [11], server: %q}\n",
		b.renewed(), b.at("etc/key"), b.at("etc/secret"), b.at("data"), b.at("telegram"), phone.address), 0o600)
	strategy := func(size string) {
		b.file("etc/strategies/hold.yaml", holding+"size: {quantity: "+size+"}\n", 0o600)
	}
	strategy("0.2")
	venue := b.venue(b.address, "runbook", "--market", "still", "--start",
		startclock.Time().Truncate(time.Minute).Add(57*time.Second).Format(time.RFC3339)) // the first candle comes soon
	b.unit("start")
	b.shows("long 0.2")
	b.atRest()

	b.follow("Upgrade")
	b.shows("long 0.2", "QUARANTINED", "HALTED")
	b.follow("Going back")
	b.shows("long 0.2", "QUARANTINED", "HALTED")

	b.follow("Maintenance of the exchange")
	b.shows("HALTED (pause): maintenance")
	if err := venue.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b.shows("BLIND")
	if err := venue.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	b.shows("ready", "BLIND")
	if text := b.follow("After maintenance"); !strings.Contains(strings.ToLower(text), "blind") {
		t.Errorf("want the outage in the timeline, have %s", text)
	}
	b.shows("long 0.2", "HALTED")
	b.withoutExchange(venue)

	strategy("0.5")
	b.shows("long 0.5")
	if err := os.RemoveAll(b.at("data")); err != nil {
		_ = os.RemoveAll(b.at("data")) // a file was written meanwhile
	}
	b.log.wait(t, `"journal.lost"`)
	b.follow("The journal is lost")
	b.shows("long 0.5", "QUARANTINED", "HALTED")

	if err := b.daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = b.daemon.Wait() // it was killed
	if err := os.RemoveAll(b.at("data")); err != nil {
		t.Fatal(err)
	}
	b.follow("The machine is lost")
	b.shows("QUARANTINED")
	if text := b.follow("After an older backup"); !strings.Contains(text, "0.3") {
		t.Errorf("want what was bought after the backup, have %s", text)
	}
	b.shows("long 0.5", "QUARANTINED", "HALTED")

	strategy("0.5}\nprotect: {stop_loss: 20%")
	b.log.wait(t, `"order.acknowledged"`) // the stop, by which a new key shows that it belongs to the same account
	b.file("root/new-key", "renewed", 0o600)
	b.file("root/new-secret", "a secret", 0o600)
	b.follow("A new key")
	b.log.wait(t, `"exchange.key_rotated"`)
	b.follow("Stop everything")
	b.shows("HALTED (flatten): TEXT", "long")
	b.run(failure.OK, "rearm", "-c", "etc", "--reason", "over")
	b.file("etc/strategies/again.yaml", strings.NewReplacer("name: hold", "name: again\nstart: running", "ETH", "BTC").Replace(holding)+
		"size: {quantity: 0.01}\n", 0o600)
	b.shows("long 0.01", "HALTED")
	b.flattenFromAPhone(phone)
	b.withdraws()
	b.segments()
	b.keys()
}

const holding = "name: hold\nstrategy: buy_and_hold\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 3\n"

// atRest runs the commands of a normal day.
func (b *runbook) atRest() {
	b.t.Helper()
	if text := b.follow("BotdClockSkew"); !strings.Contains(text, "chronyc makestep") { // the test's exchange is in another month
		b.t.Errorf("want the commands of the machine's clock, have %s", text)
	}
	b.follow("What happened last night")
	b.follow("Backup and restore")
	if made, err := filepath.Glob(b.at("backups/*.db")); err != nil || len(made) != 1 {
		b.t.Errorf("want a backup under its day, have %v, %v", made, err)
	}
}

// withoutExchange makes the exchange unavailable for a while.
func (b *runbook) withoutExchange(venue *exec.Cmd) {
	b.t.Helper()
	if err := venue.Process.Signal(syscall.SIGSTOP); err != nil {
		b.t.Fatal(err)
	}
	b.shows("BLIND")
	b.waits = true // for the exchange: no round ends
	text := b.follow("The exchange cannot be reached for a day")
	if !strings.Contains(text, "WAITING") || !strings.Contains(text, "the exchange cannot be reached") {
		b.t.Errorf("want a start that waits, and the halt, have %s", text)
	}
	b.waits = false
	if err := venue.Process.Signal(syscall.SIGCONT); err != nil {
		b.t.Fatal(err)
	}
	b.shows("ready", "BLIND", "WAITING")
	b.follow("After maintenance")
	b.shows("long 0.2", "HALTED")
}

// withdraws declares a transfer out of the wallet, which then happens.
func (b *runbook) withdraws() {
	b.t.Helper()
	b.follow("Deposits and withdrawals")
	response, err := http.Post("http://"+b.address+"/control/v1/deposit", "application/json",
		strings.NewReader(`{"account": "runbook", "market": "futures", "amount": "-3000"}`))
	if err != nil {
		b.t.Fatal(err)
	}
	response.Body.Close()
	eventually(b.t, "the withdrawal in the ledger, with nothing unexplained", func() bool {
		text := b.run(failure.OK, "ledger", "-c", "etc")
		return strings.Contains(text, "-3000") && !strings.Contains(b.run(failure.OK, "status", "-c", "etc"), "unexplained")
	})
	if text := b.run(failure.OK, "incidents", "-c", "etc"); strings.Contains(text, "ledger") {
		b.t.Errorf("want no incident of what was declared, have %s", text)
	}
}

// segments moves sealed records away. Only here that few are sealed at once: a journal needs more than a hundred times as many.
func (b *runbook) segments() {
	b.t.Helper()
	if _, err := exec.LookPath("rsync"); err != nil {
		if strings.Contains(os.Getenv("BOTD_REQUIRE"), "rsync") {
			b.t.Fatal("rsync is not installed, and BOTD_REQUIRE wants it: apt-get install rsync")
		}
		b.t.Log("rsync is not installed, which moves segments in the runbook: that part is left out")
		return
	}
	b.unit("stop")
	first := b.sealed()
	b.unit("start")
	text := b.follow("The journal's segments")
	for _, want := range []string{"not verified: sealed records " + first.Span.String(), "1 segments with sealed records are intact"} {
		if !strings.Contains(text, want) {
			b.t.Errorf("want %q, have %s", want, text)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(first.File)); err != nil || len(left) > 0 {
		b.t.Errorf("want no segment left beside the journal, have %v, %v", left, err)
	}
	b.unit("restart") // without its segments
	b.shows("ready")
}

// sealed seals all records of the journal but the newest.
func (b *runbook) sealed() *journal.Sealed {
	b.t.Helper()
	path := b.at("data/live/journal.db")
	_, err := journal.Open(b.t.Context(), path, journal.Binding{}, journal.Options{})
	var other *journal.BindingError
	if !errors.As(err, &other) {
		b.t.Fatalf("want a journal of the account's, have %v", err)
	}
	j, err := journal.Open(b.t.Context(), path, other.Have, journal.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	tracker, atMS := reconcile.NewTracker(placement.Bounds{}), int64(0)
	err = j.Replay(b.t.Context(), func(r *record.Record) error {
		tracker.Apply(r)
		atMS = r.AtMS
		return nil
	})
	if err == nil {
		err = j.Append(b.t.Context(), []record.Record{{AtMS: atMS, Body: tracker.Checkpoint(other.Have.Text())}})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	first, err := j.Seal(b.t.Context(), journal.SealOptions{Records: 10})
	if err := errors.Join(err, j.Close()); err != nil || first == nil {
		b.t.Fatalf("want a segment, have %v, %v", first, err)
	}
	return first
}

// keys starts a keyed chain.
func (b *runbook) keys() {
	b.t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		b.t.Log("openssl is not installed, which makes the key of the runbook: that part is left out")
		return
	}
	text, err := os.ReadFile(b.at("etc/botd.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.file("etc/botd.yaml", string(text)+"journal_key_file: "+b.at("etc/journal-key")+"\n", 0o600)
	b.follow("A key for the journal")
	b.shows("ready")
	if text := b.run(failure.OK, "journal", "verify", "-c", "etc"); !strings.Contains(text, "key") {
		b.t.Errorf("want a keyed chain, have %s", text)
	}
}

// flattenFromAPhone sends the runbook's text to the Telegram bot, with the code that it returns.
func (b *runbook) flattenFromAPhone(phone *messenger) {
	b.t.Helper()
	code := ""
	for _, line := range b.blocks["From a phone"] {
		phone.write(11, strings.Replace(strings.TrimSpace(line), "CODE", code, 1))
		eventually(b.t, "an answer to "+line, func() bool {
			phone.mu.Lock()
			defer phone.mu.Unlock()
			found := regexp.MustCompile(`/confirm (\w+)`).FindStringSubmatch(strings.Join(phone.sent, "\n"))
			if found != nil {
				code = found[1]
			}
			return code != ""
		})
	}
	b.shows("flat", "long")
}
