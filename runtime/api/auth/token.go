package api

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

// Role is what somebody may do.
type Role uint8

// The roles: a viewer sees everything, an operator changes things too.
const (
	nobody Role = iota
	Viewer
	Operator
)

// String returns the role's name.
func (r Role) String() string { return [...]string{"nobody", "viewer", "operator"}[r] }

// Tokens are what programs show, a token a role. They stand in files of the data
// directory that are for their owner alone.
type Tokens struct{ Operator, Viewer string }

// The files of the tokens.
const (
	OperatorFile = "token"
	ViewerFile   = "token-viewer"
)

// role is whose token it is. Both are compared, whatever was found.
func (t *Tokens) role(given string) Role {
	role := nobody
	if t.Viewer != "" && subtle.ConstantTimeCompare([]byte(given), []byte(t.Viewer)) == 1 {
		role = Viewer
	}
	if t.Operator != "" && subtle.ConstantTimeCompare([]byte(given), []byte(t.Operator)) == 1 {
		role = Operator
	}
	return role
}

// cookieName differs between daemons, since cookies do not know ports.
func cookieName(t Tokens, secure bool) string {
	sum := sha256.Sum256([]byte("cookie " + t.Operator))
	name := "botd_" + hex.EncodeToString(sum[:4])
	if secure {
		return "__Host-" + name
	}
	return name
}

// shortestToken is the length below which a token file is not whole.
const shortestToken = 20

// ReadTokens returns the tokens of a data directory, made at the first start; first
// says that they were.
func ReadTokens(directory string) (tokens Tokens, first bool, err error) {
	if tokens.Operator, first, err = token(filepath.Join(directory, OperatorFile)); err != nil {
		return tokens, false, err
	}
	tokens.Viewer, _, err = token(filepath.Join(directory, ViewerFile))
	return tokens, first, err
}

func token(path string) (text string, made bool, err error) {
	content, err := os.ReadFile(path)
	if text = strings.TrimSpace(string(content)); err == nil && len(text) >= shortestToken {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", false, fmt.Errorf("keep the API token for its owner alone: %w", err)
		}
		return text, false, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false, fmt.Errorf("read the API token: %w", err)
	}
	text = "botd_" + rand.Text()
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
