package endtoend

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packaged creates a Debian package of this program.
func packaged(t *testing.T, version string) string {
	t.Helper()
	out := t.TempDir()
	command := exec.Command("sh", "../../../deploy/packages/build.sh", version, out)
	command.Env = append(os.Environ(), "BOTD="+self(t), "KINDS=deb")
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", version, err, text)
	}
	made, err := filepath.Glob(filepath.Join(out, "*.deb"))
	if err != nil || len(made) != 1 {
		t.Fatalf("want one package, have %v, %v", made, err)
	}
	return made[0]
}

// TestThePackageInstallsRunsAndUpgrades installs botd's package below a directory, starts what its unit starts, and upgrades it. The
// user's changed configuration and the journal stay, and the next start continues from them.
func TestThePackageInstallsRunsAndUpgrades(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"nfpm", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			if strings.Contains(os.Getenv("BOTD_REQUIRE"), tool) {
				t.Fatalf("BOTD_REQUIRE wants %s, and it is not here", tool)
			}
			t.Skipf("no %s here: go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0; dpkg is Debian's", tool)
		}
	}
	root := t.TempDir()
	under := func(path string) string { return filepath.Join(root, path) }
	if err := os.MkdirAll(under("var/lib/dpkg"), 0o755); err != nil {
		t.Fatal(err)
	}
	install := func(file string) {
		t.Helper()
		for _, name := range []string{"status", "available"} {
			if f, err := os.OpenFile(under("var/lib/dpkg/"+name), os.O_CREATE, 0o644); err == nil {
				f.Close()
			}
		}
		command := exec.Command("dpkg", "--root="+root, "--force-not-root", "--force-script-chrootless", "--force-confdef", "--force-confold", "-i", file)
		if text, err := command.CombinedOutput(); err != nil {
			t.Fatalf("dpkg -i: %v\n%s", err, text)
		}
	}
	install(packaged(t, "1.0.0"))
	unit, err := os.ReadFile(under("usr/lib/systemd/system/botd.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/usr/bin/botd run -c /etc/botd --mode demo --log-format json\n") {
		t.Fatalf("want a unit that starts botd, have %v\n%s", err, unit)
	}
	for _, file := range []string{"usr/share/man/man1/botd.1", "usr/share/bash-completion/completions/botd", "usr/share/doc/botd/copyright",
		"usr/share/doc/botd/botd.cdx.json", "usr/share/botd/source/go.mod", "etc/botd/strategies/hold.yaml"} {
		if info, err := os.Stat(under(file)); err != nil || info.Size() == 0 {
			t.Errorf("want %s installed, have %v", file, err)
		}
	}
	mine := fmt.Sprintf("mode: demo\ndata_dir: %s\nlisten: off\n", under("var/lib/botd"))
	if err := os.WriteFile(under("etc/botd/botd.yaml"), []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	botd := func(arguments ...string) string {
		t.Helper()
		command := exec.Command(under("usr/bin/botd"), arguments...)
		command.Dir = root
		text, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("botd %v: %v\n%s", arguments, err, text)
		}
		return string(text)
	}
	// A user's strategy in Go is built against the installed source.
	if text := botd("strategy", "new", "my-idea", "--go", under("mine")); !strings.Contains(text, "strategy.go") {
		t.Errorf("want a module written, have %s", text)
	}
	if text, err := os.ReadFile(under("mine/go.mod")); err != nil || !strings.Contains(string(text), "botd => "+under("usr/share/botd/source")) {
		t.Errorf("want it to name the installed source, have %v\n%s", err, text)
	}
	serve := func() {
		t.Helper()
		command := exec.Command(under("usr/bin/botd"), "run", "-c", under("etc/botd"), "--mode", "demo", "--log-format", "json")
		command.Dir = root
		log, err := command.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		defer command.Process.Kill()
		lines := bufio.NewScanner(log)
		for lines.Scan() && !strings.Contains(lines.Text(), `"event":"daemon.reconciled"`) {
		}
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // its first prices come after its positions
			if exec.Command(under("usr/bin/botd"), "healthcheck", "-c", under("etc/botd"), "--ready").Run() == nil {
				break
			}
		}
		if text := botd("doctor", "-c", under("etc/botd")); !strings.Contains(text, "the chain is intact") || strings.Contains(text, "│ fail ") {
			t.Errorf("doctor: want nothing wrong, have %s", text)
		}
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
		}
		if err := command.Wait(); err != nil {
			t.Errorf("want it ended in order, have %v", err)
		}
	}
	serve()
	starts := func() int {
		return strings.Count(botd("journal", "export", "-c", under("etc/botd"), "--kind", "boot"), "\n")
	}
	if have := starts(); have != 1 {
		t.Errorf("want one start in the journal, have %d", have)
	}
	install(packaged(t, "1.0.1"))
	if have, err := os.ReadFile(under("etc/botd/botd.yaml")); err != nil || string(have) != mine {
		t.Errorf("an upgrade: want the configuration kept, have %v\n%s", err, have)
	}
	serve()
	if have := starts(); have != 2 {
		t.Errorf("an upgrade: want the journal kept, with two starts in it, have %d", have)
	}
}
