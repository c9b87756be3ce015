package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
)

// written creates a file of mode 600 with a text.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A secret is one line of a file that nobody else may read, or of systemd's directory of credentials. No error
// shows it.
func TestSecretFiles(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("t", 20)
	for _, c := range []struct {
		name string
		text string
		want string // empty if it is refused
	}{
		{"twenty characters", token, token},
		{"with space around it", " " + token + "\n", token},
		{"nineteen", token[1:], ""},
		{"two lines", token + "\n" + token, ""},
		{"none", "\n", ""},
		{"4 KiB", strings.Repeat("t", 4<<10), strings.Repeat("t", 4<<10)},
		{"more", strings.Repeat("t", 4<<10+1), ""},
	} {
		file := written(t, "BOTD_METRICS_TOKEN", c.text)
		for _, given := range []struct {
			config      configs.MetricsConfig
			credentials string
		}{{configs.MetricsConfig{TokenFile: file}, ""}, {configs.MetricsConfig{}, filepath.Dir(file)}} {
			have, err := configs.ReadMetricsToken(&given.config, given.credentials)
			if have != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%s: want %d characters, have %d, %v", c.name, len(c.want), len(have), err)
			}
			if text := strings.TrimSpace(c.text); err != nil && text != "" && strings.Contains(err.Error(), text) {
				t.Errorf("%s: want no secret in the error, have %v", c.name, err)
			}
		}
	}
	file := written(t, "token", token)
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	for name, config := range map[string]configs.MetricsConfig{"a file that others may read": {TokenFile: file}, "a directory": {TokenFile: t.TempDir()},
		"a file that is not there": {TokenFile: file + ".gone"}, "nothing": {}} {
		if have, err := configs.ReadMetricsToken(&config, ""); have != "" || err == nil || !strings.Contains(err.Error(), "metrics.token_file") {
			t.Errorf("%s: want it refused by its setting, have %q, %v", name, have, err)
		}
	}
}

// A heartbeat has an https address, or http on this machine.
func TestHeartbeatAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"https://hc.example/ping/a1b2": true, "http://127.0.0.1:9/a1b2": true, "http://localhost/a1b2": true,
		"http://hc.example/a1b2": false, "ftp://127.0.0.1/a1b2": false, "hc.example/a1b2": false, "https:///a1b2": false, "https://hc.example/%zz": false} {
		have, err := configs.ReadHeartbeat(&configs.HeartbeatConfig{AddressFile: written(t, "heartbeat", text), EveryMS: 60_000}, "")
		if (err == nil) != want || want && have != text || !want && have != "" {
			t.Errorf("%s: want it taken %t, have %q, %v", text, want, have, err)
		}
		if err != nil && strings.Contains(err.Error(), "a1b2") {
			t.Errorf("%s: want no address in the error, have %v", text, err)
		}
	}
	if have, err := configs.ReadHeartbeat(&configs.HeartbeatConfig{}, t.TempDir()); have != "" || err != nil {
		t.Errorf("nothing configured: want none, have %q, %v", have, err)
	}
	file := written(t, "BOTD_HEARTBEAT", "https://hc.example/a1b2")
	if have, err := configs.ReadHeartbeat(&configs.HeartbeatConfig{EveryMS: 60_000}, filepath.Dir(file)); have != "https://hc.example/a1b2" || err != nil {
		t.Errorf("of systemd's: want it, have %q, %v", have, err)
	}
}

// A key has at least 32 characters, in a file outside data_dir, after following links.
func TestJournalKeys(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("k", 32)
	outside, data := written(t, "key", key), t.TempDir()
	inside := filepath.Join(data, "key")
	if err := os.WriteFile(inside, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, data string
		want             bool
	}{
		{"32 characters", outside, data, true},
		{"31 characters", written(t, "short", key[1:]), data, false},
		{"in data_dir", inside, data, false},
		{"in data_dir, by a link to it", filepath.Join(link, "key"), data, false},
		{"where data_dir is a link", inside, link, false},
		{"where no data_dir is known", outside, "", true},
		{"not there", outside + ".gone", data, false},
	} {
		config := configs.Config{JournalKeyFile: c.file, DataDir: c.data}
		have, err := config.JournalKey()
		if (err == nil) != c.want || (string(have) == key) != c.want {
			t.Errorf("%s: want it taken %t, have %d characters, %v", c.name, c.want, len(have), err)
		}
	}
	keyFile := written(t, "x", key)
	config := configs.Config{JournalKeyFile: keyFile, DataDir: keyFile + ".d"}
	if have, err := config.JournalKey(); string(have) != key || err != nil {
		t.Errorf("beside a data_dir that begins with its name: want it, have %v", err)
	}
	if have, err := (&configs.Config{DataDir: data}).JournalKey(); have != nil || err != nil {
		t.Errorf("none configured: want none, have %d characters, %v", len(have), err)
	}
}

// Accounts are read in their order; a name shows no secret.
func TestSimulatedAccountsAreRead(t *testing.T) {
	t.Parallel()
	const two = "bob: {secret: hidden1, futures: 20000}\nalice: {secret: hidden2, permission: read}\n"
	accounts, problems := configs.LoadAccounts(written(t, "accounts.yaml", two))
	if len(accounts) != 2 || len(problems) != 0 {
		t.Fatalf("want two accounts, have %v, %v", accounts, problems)
	}
	if b, a := accounts[0], accounts[1]; b.Key != "bob" || b.Secret != "hidden1" || b.ReadOnly || a.Key != "alice" || a.Secret != "hidden2" || !a.ReadOnly {
		t.Errorf("want bob to trade and alice to read, have %s, read-only %t; %s, read-only %t", b.Key, b.ReadOnly, a.Key, a.ReadOnly)
	}
	if text := fmt.Sprintf("%v %+v %#v", accounts[0], accounts[0], accounts[0]); strings.Contains(text, "hidden") || !strings.Contains(text, "account bob") {
		t.Errorf("want no secret shown, have %s", text)
	}
	for text, want := range map[string]string{"bob: 5\n": "not a block of keys", "bob: {futures: 20000}\n": "account bob has no secret",
		"{}\n": "contains no account", "bob: {secret: x, permission: admin}\n": "permission", "bob: [\n": ""} {
		accounts, problems := configs.LoadAccounts(written(t, "accounts.yaml", text))
		if len(accounts) != 0 || problems.Errors() == 0 || !strings.Contains(fmt.Sprint(problems), want) {
			t.Errorf("%q: want %q, have %v, %v", text, want, accounts, problems)
		}
	}
	accounts, problems = configs.LoadAccounts(filepath.Join(t.TempDir(), "gone"))
	if accounts != nil || !strings.Contains(fmt.Sprint(problems), "cannot be read") {
		t.Errorf("a file that is not there: want it reported, have %v, %v", accounts, problems)
	}
}
