package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Tokens are the two tokens that every data directory has, one a role. They stand in
// files that only their owner can read.
type Tokens struct{ Operator, Viewer string }

// The files of the tokens.
const (
	OperatorFile = "token"
	ViewerFile   = "token-viewer"
)

// role is the role of a token. Both are compared, whatever the first comparison says.
func (t *Tokens) role(given string) Role {
	role := Nobody
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

// shortestToken is the length below which a token file is not whole.
const shortestToken = 20

// ReadTokens returns the tokens of a data directory. The first start makes them, and
// first reports that it did.
func ReadTokens(directory string) (tokens Tokens, first bool, err error) {
	if tokens.Operator, first, err = readToken(filepath.Join(directory, OperatorFile)); err != nil {
		return tokens, false, err
	}
	tokens.Viewer, _, err = readToken(filepath.Join(directory, ViewerFile))
	return tokens, first, err
}

func newToken() string { return "botd_" + rand.Text() }

func readToken(path string) (text string, made bool, err error) {
	content, err := os.ReadFile(path)
	if text = strings.TrimSpace(string(content)); err == nil && len(text) >= shortestToken {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", false, fmt.Errorf("restrict the API token to its owner: %w", err)
		}
		return text, false, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false, fmt.Errorf("read the API token: %w", err)
	}
	text = newToken()
	// A token cut short by a crash is replaced; the new file is never readable by others.
	if err := errors.Join(ignoreMissing(os.Remove(path)), os.WriteFile(path, []byte(text+"\n"), 0o600)); err != nil {
		return "", false, fmt.Errorf("write the API token: %w", err)
	}
	return text, true, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
