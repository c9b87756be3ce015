package api

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"botd/internal/privatefile"
)

// RepeatsFile holds the answers to changes under Idempotency-Keys.
const RepeatsFile = "idempotency.log"

// Bounds of that file.
const (
	maxRepeatsFile  = 4 << 20 // bytes; then it is rewritten
	maxRepeatAnswer = 64 << 10
	repeatWait      = 300 * time.Millisecond // for the disk: a kill switch does not wait for it longer
)

// storedRepeat is a line of the file: one when a change begins, and one when it was answered.
type storedRepeat struct {
	Name   string    `json:"name"` // the sender, its address, and the key
	Digest string    `json:"asked"`
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // 0: it was begun
	Type   string    `json:"type,omitempty"`
	Body   []byte    `json:"body,omitempty"`
}

// repeatWrite is one line for the writer, which closes done after the write.
type repeatWrite struct {
	line []byte
	done chan<- struct{}
}

// OpenRepeats restores the changes that were answered before a restart, and saves new ones until
// closing. A change that was begun but not answered is not repeated, since its outcome is
// unknown. A file that cannot be read is an error: a change would be done twice.
func (s *Server) OpenRepeats(directory string, now time.Time, warn func(error)) (closing func(), err error) {
	path, m := filepath.Join(directory, RepeatsFile), &s.idempotency
	text, err := privatefile.Read(path, 2*maxRepeatsFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the stored answers: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(text, now); err != nil {
		return nil, fmt.Errorf("%s: %w\nhint: remove it if no client repeats a change of the last day", path, err)
	}
	m.writes = make(chan repeatWrite, 64)
	ended, writes := make(chan struct{}), m.writes
	go func() {
		defer close(ended)
		m.write(path, writes, func(err error) {
			warn(fmt.Errorf("the answer to a change cannot be saved: a restart forgets its Idempotency-Key: %w", err))
		})
	}()
	return func() {
		m.mu.Lock()
		m.writes = nil
		m.mu.Unlock()
		close(writes)
		<-ended
	}, nil
}

// write writes lines until the channel is closed. After a failure, the next line and the end write the whole file.
func (m *idempotency) write(path string, writes <-chan repeatWrite, failed func(error)) {
	size, left := int64(maxRepeatsFile), false // the first write rewrites the file
	whole := func() error {
		all := m.all()
		size = int64(len(all))
		return privatefile.Write(path, all)
	}
	for w := range writes {
		var err error
		if left || size+int64(len(w.line)) > maxRepeatsFile {
			err = whole()
		} else {
			size, err = size+int64(len(w.line)), appendLine(path, w.line)
		}
		if left = err != nil; left {
			failed(err)
		}
		close(w.done)
	}
	if left {
		if err := whole(); err != nil {
			failed(err)
		}
	}
}

func appendLine(path string, line []byte) error {
	file, err := privatefile.Open(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Sync(), file.Close())
}

// load reads the file. Its last line may be torn.
func (m *idempotency) load(text []byte, now time.Time) error {
	m.known = map[string]*repeat{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 2*maxRepeatAnswer)
	last := bytes.LastIndexByte(text, '\n')
	read := 0
	for lines.Scan() {
		line := lines.Bytes()
		if read += len(line) + 1; read > last+1 {
			break
		}
		var one storedRepeat
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		digest, err := hex.DecodeString(one.Digest)
		if err != nil || len(digest) != 32 || now.Sub(one.At) > repeatLife {
			continue
		}
		r := &repeat{digest: [32]byte(digest), at: one.At, done: make(chan struct{}), status: one.Status, header: http.Header{}, body: one.Body}
		r.header.Set("Content-Type", one.Type)
		close(r.done)
		if m.known[one.Name] == nil {
			m.order = append(m.order, one.Name)
		}
		m.known[one.Name] = r
		if one.Status >= http.StatusInternalServerError { // it had no effect, and may be tried again
			m.drop(one.Name)
		}
	}
	return lines.Err()
}

// line returns a change as a line of the file.
func (r *repeat) line(name string, answered bool) []byte {
	one := storedRepeat{Name: name, Digest: hex.EncodeToString(r.digest[:]), At: r.at.UTC()}
	if answered {
		one.Status, one.Type, one.Body = r.status, r.header.Get("Content-Type"), r.body
	}
	if len(one.Body) > maxRepeatAnswer { // the fact that it was answered is enough
		one.Status, one.Body = 0, nil
	}
	text, err := json.Marshal(one)
	if err != nil {
		panic(err) // a change that does not marshal to JSON
	}
	return append(text, '\n')
}

// all returns the whole file.
func (m *idempotency) all() (text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.order {
		answered := false
		select {
		case <-m.known[name].done:
			answered = true
		default:
		}
		text = append(text, m.known[name].line(name, answered)...)
	}
	return text
}

// save writes a line, and waits for it a moment.
func (m *idempotency) save(line []byte) {
	m.mu.Lock()
	done := make(chan struct{})
	sent := false
	if m.writes != nil {
		select {
		case m.writes <- repeatWrite{line, done}:
			sent = true
		default: // a disk that hangs
		}
	}
	m.mu.Unlock()
	if !sent {
		return
	}
	select {
	case <-done:
	case <-time.After(repeatWait):
	}
}
