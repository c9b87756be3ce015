package ops

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// systemd runs systemd-analyze, or skips the test; with systemd in BOTD_REQUIRE its absence fails.
func systemd(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if required("systemd") {
			t.Fatal("systemd-analyze is not installed, and BOTD_REQUIRE wants it: apt-get install systemd")
		}
		t.Skip("systemd-analyze is not installed (Debian: systemd); BOTD_REQUIRE=systemd makes this fail")
	}
	output, err := exec.Command(path, append(arguments, "--no-pager")...).CombinedOutput()
	return string(output), err
}

// TestTheUnitExposesLittle has systemd rate the unit. The figure in the documents and the help is systemd's,
// or a worse one.
func TestTheUnitExposesLittle(t *testing.T) {
	t.Parallel()
	unit := UnitFile(Unit{Binary: "/usr/bin/botd", Config: "/etc/botd", Mode: "live", Watchdog: 120, StopAfter: 45})
	output, err := systemd(t, "security", "--offline=true", "--threshold=15", write(t, "botd.service", unit))
	level := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(output)
	if level == nil {
		t.Fatalf("systemd-analyze security reported: %v\n%s", err, output)
	}
	exposure, _ := strconv.ParseFloat(level[1], 64)
	t.Logf("exposure %.1f", exposure)
	if exposure > 1.5 {
		t.Errorf("exposure: want at most 1.5, have %.1f\n%s", exposure, output)
	}
	for _, name := range []string{"../../docs/operations.md", "../../cmd/botd/cli/offline/ops.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rated := regexp.MustCompile(`systemd-analyze security\S*(?: \S+)?\s+rates\s+it\s+([0-9]\.[0-9])`).FindStringSubmatch(string(text))
		if rated == nil {
			t.Errorf("%s: want the rating by systemd-analyze security in the text", name)
		} else if figure, _ := strconv.ParseFloat(rated[1], 64); exposure > figure {
			t.Errorf("%s has %.1f, systemd has %.1f", name, figure, exposure)
		}
	}
}

// TestSystemdUnderstandsEveryLineOfTheUnit has systemd read it and report what it does not know, or finds
// odd.
func TestSystemdUnderstandsEveryLineOfTheUnit(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"demo", "paper", "live"} {
		unit := UnitFile(Unit{Binary: binary, Config: "/etc/botd", Mode: mode, Watchdog: 120, StopAfter: 45})
		if output, err := systemd(t, "verify", "--man=no", write(t, "botd.service", unit)); err != nil || strings.TrimSpace(output) != "" {
			t.Errorf("mode %s: want systemd-analyze verify without a word, have %v\n%s", mode, err, output)
		}
		for _, line := range []string{"\nLimitCORE=0\n", "\nMemoryMax=1G\n", "\nOOMPolicy=continue\n", "\nTasksMax=4096\n"} {
			if !strings.Contains(unit, line) {
				t.Errorf("mode %s: want %q", mode, line)
			}
		}
		if has := strings.Contains(unit, "LoadCredential=BOTD_SECRET"); has != (mode == "live") {
			t.Errorf("mode %s: want credentials for live alone, have them %v", mode, has)
		}
	}
	odd := strings.Replace(UnitFile(Unit{Binary: binary, Config: "/etc/botd"}), "NoNewPrivileges=yes", "NoNewPrivilege=yes", 1)
	if output, _ := systemd(t, "verify", "--man=no", write(t, "botd.service", odd)); !strings.Contains(output, "NoNewPrivilege") {
		t.Errorf("want a misspelled line reported, have %q", output)
	}
}
