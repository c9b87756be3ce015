package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// Names of the systemd credentials.
const (
	keyCredential    = "BOTD_KEY"
	secretCredential = "BOTD_SECRET"
)

// maxSecretBytes bounds a key or secret file. A larger file is the wrong one.
const maxSecretBytes = 4096

// ReadSecrets returns the API key and secret from their files, or from systemd's credentials if no file is named. It
// refuses a file that other users may read. No error contains a secret.
func ReadSecrets(e ExchangeConfig) (key string, secret []byte, err error) {
	keyBytes, err := readSecret("exchange.key_file", e.KeyFile, e.CredentialsDirectory, keyCredential)
	if err != nil {
		return "", nil, err
	}
	secret, err = readSecret("exchange.secret_file", e.SecretFile, e.CredentialsDirectory, secretCredential)
	if err != nil {
		return "", nil, err
	}
	return string(keyBytes), secret, nil
}

// ReadToken returns the token from a setting's file. It refuses a file that other users may read.
func ReadToken(setting, file string) (string, error) {
	text, err := readSecret(setting, file, "", "")
	return string(text), err
}

// tokenFile is a setting that names the file of a token, and the systemd credential that replaces it.
type tokenFile struct{ setting, credential string }

// read returns the token. No error contains it.
func (f tokenFile) read(file, credentials string) (string, error) {
	token, err := readSecret(f.setting, file, credentials, f.credential)
	return string(token), err
}

// refuse reports that the setting holds the token itself.
func (f tokenFile) refuse(s *section, file *yaml.Node) {
	s.wrong(file, "write the token to a file of mode 600 and its path here; change it if others could read this file",
		"%s looks like the token itself, not like a path", f.setting)
}

// secretHint returns the hint where neither a file nor a credential is named.
func secretHint(credential string) string {
	return "name a file of mode 600, or use systemd's LoadCredential=" + credential
}

func readSecret(setting, file, directory, credential string) ([]byte, error) {
	switch {
	case file != "":
		if err := checkPrivate(setting, file); err != nil {
			return nil, err
		}
	case directory != "":
		// systemd mounts the directory for this service alone, and shows access lists as group rights: the mode has
		// no meaning there.
		setting, file = "credential "+credential, filepath.Join(directory, credential)
	default:
		return nil, fmt.Errorf("%s is not set and there are no systemd credentials\n  hint: %s", setting, secretHint(credential))
	}
	found, err := os.Stat(file)
	if err != nil {
		return nil, unreadable(setting, file, err)
	}
	if found.IsDir() || found.Size() > maxSecretBytes {
		return nil, fmt.Errorf("%s: %s is not a file with one short line\n  hint: write only the secret into the file", setting, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, unreadable(setting, file, err)
	}
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" || strings.ContainsAny(trimmed, "\r\n") {
		return nil, fmt.Errorf("%s: %s contains no secret or more than one line\n  hint: write only the secret into it", setting, file)
	}
	return []byte(trimmed), nil
}

func checkPrivate(setting, file string) error {
	found, err := os.Stat(file)
	if err != nil {
		return unreadable(setting, file, err)
	}
	if mode := found.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s: %s has mode %03o and can be read by others\n  hint: chmod 600 %s", setting, file, mode, file)
	}
	return nil
}

// unreadable omits a file name that may be the secret itself, written in place of its path.
func unreadable(setting, file string, err error) error {
	if looksSecret(file) {
		return fmt.Errorf("%s: names no readable file, and looks like the secret itself\n"+
			"  hint: write the secret to a file of mode 600 and its path here", setting)
	}
	hint := "check the path and who owns the file"
	if errors.Is(err, fs.ErrNotExist) {
		hint = "check the path; a relative one starts at the directory in which botd was started"
	}
	return fmt.Errorf("%s: %s: %s\n  hint: %s", setting, file, reason(err), hint)
}
