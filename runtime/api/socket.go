package api

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// SocketName is the unix socket's name in a data directory.
const SocketName = "botd.sock"

// ListenSocket creates the unix socket in a data directory, for the owner of the directory alone
// (0600). The caller holds the directory's lock, so that the socket of an earlier run can be
// removed.
func ListenSocket(directory string) (net.Listener, error) {
	path := filepath.Join(directory, SocketName)
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		return nil, errors.Join(fmt.Errorf("listen %s: another botd answers there", path), conn.Close())
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	listener, err := bindSocket(path)
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	return &socket{UnixListener: listener, path: path}, nil
}

// bindSocket listens at a path. The socket is created in a private directory, so that there is no
// moment at which others could connect.
func bindSocket(path string) (*net.UnixListener, error) {
	private, err := os.MkdirTemp(filepath.Dir(path), ".sock")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	born := filepath.Join(private, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: born, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(born, 0o600), os.Rename(born, path)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// socketEvery is how often a socket checks that its file exists.
const socketEvery = time.Second

// socket removes its file when it is closed, and creates it again when another program removed it:
// a person who removed the data directory needs the kill switch most.
type socket struct {
	mu sync.Mutex // guards all below
	*net.UnixListener
	path   string
	closed bool
}

// Accept waits for a connection, and checks at intervals that the file exists.
func (s *socket) Accept() (net.Conn, error) {
	for {
		listener := s.current()
		if err := listener.SetDeadline(time.Now().Add(socketEvery)); err != nil {
			return nil, err
		}
		conn, err := listener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
		s.renew()
	}
}

func (s *socket) current() *net.UnixListener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.UnixListener
}

// renew binds the socket again when its file is missing. A failure is tried again.
func (s *socket) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Lstat(s.path); s.closed || !errors.Is(err, os.ErrNotExist) {
		return
	}
	if os.MkdirAll(filepath.Dir(s.path), 0o700) != nil {
		return
	}
	if listener, err := bindSocket(s.path); err == nil {
		_ = s.UnixListener.Close() // it cannot be reached any more
		s.UnixListener = listener
	}
}

// Close stops listening and removes the file.
func (s *socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	err := s.UnixListener.Close()
	if removed := os.Remove(s.path); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return errors.Join(err, removed)
	}
	return err
}
