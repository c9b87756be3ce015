package endtoend

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"botd/internal/failure"
)

// TestAPreparedDataDirectoryIsRefused starts botd where another user could have put files. Nothing is
// followed, nothing is written, and the error names the command that repairs it.
func TestAPreparedDataDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	for what, prepare := range map[string]func(data string) error{
		"chmod go-w data":                    func(data string) error { return os.Chmod(data, 0o777) },
		"chmod -R go= data/demo":             func(data string) error { return os.Chmod(filepath.Join(data, "demo"), 0o777) },
		"rm data/demo/equity.csv":            func(data string) error { return linkTo(data, "equity.csv") },
		"rm data/demo/journal.db.reserve":    func(data string) error { return linkTo(data, "journal.db.reserve") },
		"chmod -R go= data/demo/token":       func(data string) error { return os.Chmod(filepath.Join(data, "demo", "token"), 0o666) },
		"rm data/demo/halt-1-2.json":         func(data string) error { return linkTo(data, "halt-1-2.json") },
		"rm data/demo/journal.db.head":       func(data string) error { return linkTo(data, "journal.db.head") },
		"rm data/demo/tokens.json (a direct": func(data string) error { return linkTo(data, "tokens.json") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.file("victim", "untouched", 0o600)
			p.file("data/demo/token", "botd_PLANTEDPLANTEDPLANTED\n", 0o600)
			if err := prepare(filepath.Join(p.directory, "data")); err != nil {
				t.Fatal(err)
			}
			if have := p.run(failure.Config, "run", "--listen", "off"); !strings.Contains(have, what) {
				t.Errorf("want %q named, have %s", what, have)
			}
			if text, err := os.ReadFile(filepath.Join(p.directory, "victim")); err != nil || string(text) != "untouched" {
				t.Errorf("the link's target: want it untouched, have %q, %v", text, err)
			}
		})
	}
}

// linkTo plants a link to a file that botd must not touch.
func linkTo(data, name string) error {
	path := filepath.Join(data, "demo", name)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(filepath.Join(data, "..", "victim"), path)
}

// TestJournalWithoutItsRecordedHeadIsRefused has the whole journal rewritten: its chain is sound, but not
// the one whose end was noted. A person may accept it.
func TestJournalWithoutItsRecordedHeadIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("configs/botd.yaml", "mode: demo\ndata_dir: ./data\nlisten: off\n", 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	stopped := func() {
		t.Helper()
		daemon, log := p.start("daemon", "run", "--log-format", "json")
		log.wait(t, `"daemon.reconciled"`)
		if err := daemon.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		log.wait(t, `"daemon.stopped"`)
		if err := daemon.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	stopped()
	noted := filepath.Join(p.directory, "data/demo/journal.db.head")
	text, err := os.ReadFile(noted)
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`"hash":"[0-9a-f]{8}`).ReplaceAllString(string(text), `"hash":"00000000`)
	if err := os.WriteFile(noted, []byte(other), 0o600); err != nil || other == string(text) {
		t.Fatal(err, other)
	}
	if have := p.run(failure.Config, "run"); !strings.Contains(have, "lacks records that it contained") || !strings.Contains(have, "head --accept") {
		t.Errorf("want the start refused, with the remedy, have %s", have)
	}
	p.file("configs/botd.yaml", "mode: demo\ndata_dir: ./data\nlisten: off\nforeign: ignore\n", 0o600)
	if have := p.run(failure.Config, "journal", "head", "--accept"); !strings.Contains(have, "foreign: halt") {
		t.Errorf("want it refused where what it lacks would be made again, have %s", have)
	}
	p.file("configs/botd.yaml", "mode: demo\ndata_dir: ./data\nlisten: off\n", 0o600)
	p.run(failure.OK, "journal", "head", "--accept")
	stopped()
}
