package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"botd/internal/privatefile"
)

// Tokens are the two tokens of every data directory, one for each role. They are stored in files
// that only their owner can read.
type Tokens struct{ Operator, Viewer string }

// The files of the tokens.
const (
	OperatorFile = "token"
	ViewerFile   = "token-viewer"
)

// role returns the role of a token. Both are always compared, regardless of the first result.
func (t *Tokens) role(given string) Role {
	role := Public
	if t.Viewer != "" && subtle.ConstantTimeCompare([]byte(given), []byte(t.Viewer)) == 1 {
		role = Viewer
	}
	if t.Operator != "" && subtle.ConstantTimeCompare([]byte(given), []byte(t.Operator)) == 1 {
		role = Operator
	}
	return role
}

// cookieName differs between daemons, since cookies do not know ports.
func (t *Tokens) cookieName(secure bool) string {
	sum := sha256.Sum256([]byte("cookie " + t.Operator))
	name := "botd_" + hex.EncodeToString(sum[:4])
	if secure {
		return "__Host-" + name
	}
	return name
}

// InstanceHost returns a host name on this machine that no other daemon or program uses. Browsers
// resolve every name below localhost to the machine itself, and send a cookie only to the name that
// set it, on any port.
func (t *Tokens) InstanceHost() string {
	sum := sha256.Sum256([]byte("host " + t.Operator))
	return "botd-" + hex.EncodeToString(sum[:6]) + ".localhost"
}

// shortestToken is the length below which a token file is incomplete.
const shortestToken = 20

// ReadTokens returns the tokens of a data directory. The first start creates them, and first
// reports that.
func ReadTokens(directory string) (tokens Tokens, first bool, err error) {
	if tokens.Operator, first, err = readToken(filepath.Join(directory, OperatorFile)); err != nil {
		return tokens, false, err
	}
	tokens.Viewer, _, err = readToken(filepath.Join(directory, ViewerFile))
	return tokens, first, err
}

// Restore writes the missing token files of a data directory again, from the tokens in memory: a
// person needs one to reach the kill switch.
func (t Tokens) Restore(directory string) error {
	var all []error
	for file, token := range map[string]string{OperatorFile: t.Operator, ViewerFile: t.Viewer} {
		path := filepath.Join(directory, file)
		if _, err := os.Lstat(path); token == "" || !errors.Is(err, os.ErrNotExist) {
			continue
		}
		all = append(all, os.MkdirAll(directory, 0o700), privatefile.Write(path, []byte(token+"\n")))
	}
	return errors.Join(all...)
}

func newToken() string { return "botd_" + rand.Text() }

func readToken(path string) (text string, made bool, err error) {
	content, secret, err := readSecret(path)
	if text = strings.TrimSpace(content); err == nil && secret && len(text) >= shortestToken {
		return text, false, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false, fmt.Errorf("read the API token: %w", err)
	}
	text = newToken()
	// A token truncated by a crash is replaced, and so is one that others could read or write, and a file that is too long;
	// the new file is never readable by others.
	if err := privatefile.Write(path, []byte(text+"\n")); err != nil {
		return "", false, fmt.Errorf("write the API token: %w", err)
	}
	return text, true, nil
}

// readSecret reads a file without following a link, and reports whether only its owner can access it and it is not too long for a
// token.
func readSecret(path string) (text string, secret bool, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", false, nil // a link is replaced
	}
	if err != nil {
		return "", false, err
	}
	found, err := file.Stat()
	if err == nil && found.Mode().IsRegular() {
		var content []byte
		content, err = io.ReadAll(io.LimitReader(file, maxToken+1))
		text, secret = string(content), found.Mode().Perm()&0o077 == 0 && len(content) <= maxToken
	}
	return text, secret, errors.Join(err, file.Close())
}

// maxToken is the maximum length of a token file, in bytes: the beginning of a longer file is not a token.
const maxToken = 4 << 10
