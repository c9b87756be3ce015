package api

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// SocketName is the unix socket's name in a data directory.
const SocketName = "botd.sock"

// ListenSocket makes the unix socket in a data directory, for the owner of the
// directory alone (0600). The caller holds the directory's lock, so that what is
// left of an earlier run can be taken away.
func ListenSocket(directory string) (net.Listener, error) {
	path := filepath.Join(directory, SocketName)
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		return nil, errors.Join(fmt.Errorf("listen %s: another botd answers there", path), conn.Close())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	// The socket is born in a directory of its own that nobody else may enter, so
	// that there is no moment at which others could connect.
	private, err := os.MkdirTemp(directory, ".sock")
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	defer os.RemoveAll(private)
	born := filepath.Join(private, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: born, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	listener.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(born, 0o600), os.Rename(born, path)); err != nil {
		return nil, errors.Join(fmt.Errorf("listen %s: %w", path, err), listener.Close())
	}
	return &socket{listener, path}, nil
}

// socket takes its file away when it is closed.
type socket struct {
	*net.UnixListener
	path string
}

func (s *socket) Close() error {
	err := s.UnixListener.Close()
	if removed := os.Remove(s.path); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return errors.Join(err, removed)
	}
	return err
}
