package endtoend

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/internal/failure"
)

// TestBackupOfSimulatedAccountContinuesElsewhere backs up a daemon that trades every second, lets it trade on,
// restores each backup into another directory and starts there. Journal and account belong to one moment, so
// nothing is found, unexplained or quarantined.
func TestBackupOfSimulatedAccountContinuesElsewhere(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"demo", "paper"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			address := "http://127.0.0.1:1" // demo calls nobody
			if mode == "paper" {
				address = startVenue(t, self(t))
			}
			for _, at := range []string{"first", "second"} {
				p.file(at+"/configs/botd.yaml", fmt.Sprintf("mode: %s\nexchange: {base_url: %q}\nlisten: off\n", mode, address), 0o600)
				p.file(at+"/configs/strategies/grow.yaml", grows+"protect: {stop_loss: 20%}\n", 0o600)
			}
			first := filepath.Join(p.directory, "first")
			daemon := start(t, self(t), first, "--mode", mode)
			daemon.until(t, "order.fill")
			var copies []string
			for i := range 4 {
				name := filepath.Join(p.directory, fmt.Sprintf("copy%d.db", i))
				in(t, first, failure.OK, "backup", "-c", "configs", name)
				copies = append(copies, name)
				daemon.until(t, "order.fill")
			}
			fromDaemon := struct{ Backup struct{ File string } }{}
			if err := json.Unmarshal([]byte(in(t, first, failure.OK, "backup", "-c", "configs", "-o", "json")), &fromDaemon); err != nil {
				t.Fatal(err)
			}
			copies = append(copies, fromDaemon.Backup.File)
			daemon.until(t, "order.fill")
			if err := daemon.process.Kill(); err != nil { // its data are lost
				t.Fatal(err)
			}
			daemon.wait()
			for i := range copies {
				if !filepath.IsAbs(copies[i]) {
					copies[i] = filepath.Join(first, copies[i])
				}
				restoredGoesOn(t, filepath.Join(p.directory, "second"), mode, copies[i])
			}
		})
	}
}

// restoredGoesOn restores a backup and expects a start on it to continue as if nothing had happened.
func restoredGoesOn(t *testing.T, directory, mode, backup string) {
	t.Helper()
	if text := in(t, directory, failure.OK, "restore", "-c", "configs", backup); !strings.Contains(text, "journal and account are of the same moment") {
		t.Errorf("restore %s: want the account with it, have %s", backup, text)
	}
	daemon := start(t, self(t), directory, "--mode", mode)
	story := daemon.until(t, "daemon.reconciled")
	story = append(story, daemon.until(t, "order.fill")...)
	var status struct {
		Degraded []struct{ State, Cause string }
	}
	if err := json.Unmarshal([]byte(in(t, directory, failure.OK, "status", "-c", "configs", "-o", "json")), &status); err != nil || len(status.Degraded) > 0 {
		t.Errorf("%s: want no declared state, have %v, %v", backup, status.Degraded, err)
	}
	if err := daemon.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	story = append(story, daemon.until(t, "daemon.stopped")...)
	daemon.wait()
	for _, event := range story {
		if slices.Contains([]string{"symbol.quarantined", "symbol.contradicted", "position.adopted", "position.ignored", "order.found",
			"trading.halted", "ledger.unexplained", "ledger.transfer"}, event) {
			t.Errorf("%s: want nothing unexpected, have %s in %v", backup, event, story)
		}
	}
	in(t, directory, failure.OK, "journal", "verify", "-c", "configs")
}

// in runs a command in a directory to its end.
func in(t *testing.T, directory string, want int, arguments ...string) string {
	t.Helper()
	command := exec.Command(self(t), arguments...)
	command.Dir = directory
	output, err := command.Output()
	if wantExit(t, "botd "+strings.Join(arguments, " "), err, want); t.Failed() {
		t.Logf("%s", output)
	}
	return string(output)
}

// TestABackupWithoutItsAccountIsRefused removes the account's copy, and alters it.
func TestABackupWithoutItsAccountIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("configs/botd.yaml", "mode: demo\nlisten: off\n", 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	daemon := start(t, self(t), p.directory)
	daemon.until(t, "order.fill")
	p.run(failure.OK, "backup", "-c", "configs", "copy.db")
	if err := daemon.process.Kill(); err != nil {
		t.Fatal(err)
	}
	daemon.wait()
	exchangeCopy := filepath.Join(p.directory, "copy.db.exchange.json")
	text, err := os.ReadFile(exchangeCopy)
	if err != nil {
		t.Fatal(err)
	}
	p.run(failure.OK, "restore", "--verify", "copy.db")
	p.file("copy.db.exchange.json", strings.Replace(string(text), "1", "2", 1), 0o600)
	if have := p.run(failure.Negative, "restore", "-c", "configs", "copy.db"); !strings.Contains(have, "sha256") {
		t.Errorf("altered: want the hash named, have %s", have)
	}
	if err := os.Remove(exchangeCopy); err != nil {
		t.Fatal(err)
	}
	if have := p.run(failure.NoInput, "restore", "-c", "configs", "copy.db"); !strings.Contains(have, "copy.db.exchange.json") {
		t.Errorf("missing: want the file named, have %s", have)
	}
}
