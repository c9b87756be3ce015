package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"botd/reconcile/record"
)

// Disk is what the in-memory journals of a test or a simulation are written on;
// it outlives them as a file outlives a process. It can be made to fail. Safe
// for several goroutines.
type Disk struct {
	// Plain leaves out the chain and the derived tables: a simulation of a
	// hundred thousand runs asks for order and durability, not for tampering.
	Plain bool

	mu       sync.Mutex // guards all below
	journals map[string]*stored
	full     bool
	tearing  *int
}

// stored is one journal on a disk.
type stored struct {
	binding Binding
	format  Format
	lines   []line
	plain   []record.Record
	tables  *memoryTables
	end     position
	owner   *Memory
}

// line is one record as it was written.
type line struct{ body, previous, hash string }

// SetFull makes the disk full, or gives it room again.
func (d *Disk) SetFull(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// TearNext makes the next append fail in the middle, like a sync that failed or
// a power failure: it is broken, and what the next start finds of the batch is
// all of it when durable, else nothing.
func (d *Disk) TearNext(durable bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	whole := 0
	if durable {
		whole = 1
	}
	d.tearing = &whole
}

// Copy is the disk as it is now, with nobody's journal open: a backup.
func (d *Disk) Copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	copied := &Disk{Plain: d.Plain, journals: map[string]*stored{}}
	for name, s := range d.journals {
		tables := newMemoryTables()
		staging{s.tables, tables}.commit()
		copied.journals[name] = &stored{
			binding: s.binding,
			format:  s.format,
			lines:   s.lines[:len(s.lines):len(s.lines)],
			plain:   s.plain[:len(s.plain):len(s.plain)],
			tables:  tables,
			end:     s.end,
		}
	}
	return copied
}

// Memory is a journal in memory. Safe for several goroutines.
type Memory struct {
	disk   *Disk
	name   string
	broken error // guarded by the disk's mutex
}

// OpenMemory opens or makes a named journal on a disk, for one owner.
func OpenMemory(disk *Disk, name string, binding Binding) (*Memory, error) {
	disk.mu.Lock()
	defer disk.mu.Unlock()
	if disk.journals == nil {
		disk.journals = map[string]*stored{}
	}
	s := disk.journals[name]
	if s == nil {
		s = &stored{binding: binding, tables: newMemoryTables()}
		disk.journals[name] = s
	}
	if s.binding != binding {
		return nil, &BindingError{Path: name, Want: binding, Have: s.binding}
	}
	if err := s.format.known(name); err != nil {
		return nil, err
	}
	if s.owner != nil {
		return nil, fmt.Errorf("journal %s is %w", name, ErrLocked)
	}
	m := &Memory{disk: disk, name: name}
	s.owner = m
	return m, nil
}

// ReadMemory opens a named journal for reading, also while another writes it.
func ReadMemory(disk *Disk, name string) (*Memory, error) {
	disk.mu.Lock()
	defer disk.mu.Unlock()
	s := disk.journals[name]
	if s == nil {
		return nil, fmt.Errorf("no journal %s", name)
	}
	if err := s.format.known(name); err != nil {
		return nil, err
	}
	return &Memory{disk: disk, name: name, broken: ErrReading}, nil
}

// Append makes the records durable, in order, all or none.
func (m *Memory) Append(_ context.Context, records []record.Record) error {
	d := m.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case m.broken != nil:
		return m.broken
	case d.full:
		return fmt.Errorf("append %d records: %w", len(records), ErrFull)
	}
	tearing := d.tearing
	if d.tearing = nil; tearing != nil {
		m.broken = &brokenError{errors.New("the disk was torn away")}
		if *tearing == 0 {
			return m.broken
		}
	}
	if err := d.journals[m.name].append(records, d.Plain); err != nil {
		return err
	}
	return m.broken
}

// append adds all records or none.
func (s *stored) append(records []record.Record, plain bool) error {
	if plain {
		s.plain = append(s.plain, records...)
		return nil
	}
	end, lines, staged := s.end, make([]line, 0, len(records)), staging{newMemoryTables(), s.tables}
	for i := range records {
		body, previous, err := end.next(&records[i])
		if err == nil {
			err = derive(staged, end.sequence, &records[i])
		}
		if err != nil {
			return fmt.Errorf("append %s to the journal: %w", records[i].Kind(), err)
		}
		lines = append(lines, line{string(body), previous, end.hash})
	}
	s.end, s.lines = end, append(s.lines, lines...)
	if s.format.Epoch < record.FormatEpoch {
		s.format = current()
	}
	staged.commit()
	return nil
}

// Format is the newest format that the journal was written with.
func (m *Memory) Format() Format {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	return m.disk.journals[m.name].format
}

// SetFormat changes the format of a journal, as a newer botd would.
func (d *Disk) SetFormat(name string, f Format) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.journals[name].format = f
}

// staging is a transaction over tables in memory.
type staging struct{ changed, under *memoryTables }

func (s staging) placement(id string) (placementRow, bool, error) {
	if p, known, _ := s.changed.placement(id); known {
		return p, true, nil
	}
	return s.under.placement(id)
}

func (s staging) putPlacement(p placementRow) error { return s.changed.putPlacement(p) }

func (s staging) balance(key balanceKey) (balance, bool, error) {
	if b, known, _ := s.changed.balance(key); known {
		return b, true, nil
	}
	return s.under.balance(key)
}

func (s staging) putBalance(b balance) error { return s.changed.putBalance(b) }

func (s staging) commit() {
	for id, p := range s.changed.placements {
		s.under.placements[id] = p
	}
	for key, b := range s.changed.balances {
		s.under.balances[key] = b
	}
}

// snapshot is the journal as it stands now; what is in it never changes.
func (m *Memory) snapshot() ([]line, []record.Record, map[[2]string]string) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	s := m.disk.journals[m.name]
	return s.lines, s.plain, s.tables.rows()
}

// Replay gives every record in order, checking the chain.
func (m *Memory) Replay(_ context.Context, take func(*record.Record) error) error {
	lines, plain, _ := m.snapshot()
	for i := range plain {
		copied := plain[i]
		if err := take(&copied); err != nil {
			return fmt.Errorf("journal record %d: %w", i+1, err)
		}
	}
	return eachLine(lines, func(s *Stored) error { return take(&s.Record) })
}

func eachLine(lines []line, take func(*Stored) error) error {
	var l link
	for i, text := range lines {
		stored, err := l.take(int64(i+1), text.body, text.previous, text.hash)
		if err != nil {
			return err
		}
		if err := take(&stored); err != nil {
			return fmt.Errorf("journal record %d: %w", i+1, err)
		}
	}
	return nil
}

// Select gives the records a filter chooses, in order.
func (m *Memory) Select(_ context.Context, filter Filter, take func(*Stored) error) error {
	lines, _, _ := m.snapshot()
	return filter.pick(take, func(take func(*Stored) error) error {
		for i, text := range lines {
			s := Stored{Sequence: int64(i + 1), Hash: text.hash}
			if err := json.Unmarshal([]byte(text.body), &s.Record); err != nil {
				return fmt.Errorf("journal record %d: %w", i+1, err)
			}
			if err := take(&s); err != nil {
				return err
			}
		}
		return nil
	})
}

// Verify checks the chain and the derived tables.
func (m *Memory) Verify(context.Context) (Report, error) {
	lines, _, have := m.snapshot()
	v := newVerifier()
	if err := eachLine(lines, v.take); err != nil {
		if v.broke(err) {
			return v.report, nil
		}
		return v.report, err
	}
	v.compare(have)
	return v.report, nil
}

// Tamper changes a stored record's text, as a hand in a file would.
func (m *Memory) Tamper(sequence int64, change func(body string) string) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	s := m.disk.journals[m.name]
	s.lines = append([]line(nil), s.lines...)
	s.lines[sequence-1].body = change(s.lines[sequence-1].body)
}

// TamperRow changes a placement's derived state, as a hand in a file would.
func (m *Memory) TamperRow(clientOrderID, state string) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	tables := m.disk.journals[m.name].tables
	p := tables.placements[clientOrderID]
	p.State = state
	tables.placements[clientOrderID] = p
}

// TamperBalance changes a balance of the ledger, as a hand in a file would.
func (m *Memory) TamperBalance(account, amount string) {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	tables := m.disk.journals[m.name].tables
	for key, b := range tables.balances {
		if key.account == account {
			b.amount = amount
			tables.balances[key] = b
		}
	}
}

// Close lets go of the journal. A process that was killed does not call it: a
// test calls Kill.
func (m *Memory) Close() error {
	m.Kill()
	return nil
}

// Kill ends the owner as a kill ends a process: the lock is gone, what was
// appended stays.
func (m *Memory) Kill() {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	if s := m.disk.journals[m.name]; s.owner == m {
		s.owner = nil
	}
	if m.broken == nil {
		m.broken = errors.New("journal is closed")
	}
}
