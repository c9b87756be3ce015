package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
)

func write(tb testing.TB, file, text string, mode os.FileMode) string {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		tb.Fatal(err)
	}
	return file
}

func TestSecretsComeFromPrivateFilesWithoutTheirNewline(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	key, secret, err := configs.ReadSecrets(configs.ExchangeConfig{
		KeyFile:    write(t, filepath.Join(d, "key"), "the-key\n", 0o600),
		SecretFile: write(t, filepath.Join(d, "secret"), "the-secret\r\n", 0o400),
	})
	if err != nil || key != "the-key" || string(secret) != "the-secret" {
		t.Errorf("want the-key, the-secret; have %q, %q, %v", key, secret, err)
	}
}

func TestSecretsComeFromSystemdWhereNoFileIsNamed(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	write(t, filepath.Join(d, "BOTD_KEY"), "k", 0o440) // as systemd shows an access list
	write(t, filepath.Join(d, "BOTD_SECRET"), "s", 0o440)
	key, secret, err := configs.ReadSecrets(configs.ExchangeConfig{CredentialsDirectory: d})
	if err != nil || key != "k" || string(secret) != "s" {
		t.Errorf("want k, s; have %q, %q, %v", key, secret, err)
	}
}

func TestUnsafeSecretIsRefusedAndNotShown(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	good := write(t, filepath.Join(d, "good"), "good", 0o600)
	const hidden = "hunter2hunter2hunter2hunter2"
	for _, row := range []struct {
		name, file, want string
	}{
		{"readable by the group", write(t, filepath.Join(d, "group"), hidden, 0o640), "hint: chmod 600"},
		{"readable by all", write(t, filepath.Join(d, "all"), hidden, 0o604), "has mode 604"},
		{"empty", write(t, filepath.Join(d, "empty"), "\n", 0o600), "contains no secret"},
		{"two lines", write(t, filepath.Join(d, "two"), hidden+"\n"+hidden, 0o600), "more than one line"},
		{"too long", write(t, filepath.Join(d, "long"), strings.Repeat(hidden, 200), 0o600), "one short line"},
		{"absent", filepath.Join(d, "absent"), "hint: check the path"},
		{"the secret itself", hidden, "looks like the secret itself"},
		{"not set", "", "exchange.secret_file is not set"},
	} {
		_, _, err := configs.ReadSecrets(configs.ExchangeConfig{KeyFile: good, SecretFile: row.file})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: want an error with %q, have %v", row.name, row.want, err)
		}
		if err != nil && strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: the error shows the secret: %v", row.name, err)
		}
	}
}

func TestNoVerbPrintsTheSecretOfASimulatedAccount(t *testing.T) {
	t.Parallel()
	account := configs.AccountConfig{Key: "alice", Secret: "hunter2"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if have := fmt.Sprintf(verb, account); strings.Contains(have, "hunter2") || !strings.Contains(have, "alice") {
			t.Errorf("%s: want the account's name without its secret, have %s", verb, have)
		}
	}
}
