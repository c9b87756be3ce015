package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"botd/internal/privatefile"
)

// A segment is a compressed file of sealed records: a header line that identifies them, then one line
// per record with its link and text. It never changes once it has its name, so it can be copied and
// moved.

// Bounds of a segment's file.
const (
	segmentFormat  = 1
	maxHeaderBytes = 256 << 20 // open placements and balances before it
	maxRecordBytes = 256 << 20 // a checkpoint is the longest
	segmentEnding  = ".jsonl.zst"
)

// SegmentsPath returns the directory of a journal's segments.
func SegmentsPath(path string) string { return path + ".segments" }

// segmentHeader describes the content of a segment.
type segmentHeader struct {
	Format   int     `json:"format"`
	First    int64   `json:"first"`
	Last     int64   `json:"last"`
	Previous string  `json:"previous"` // hash of the record before it; empty before the first
	Hash     string  `json:"hash"`     // of its last record
	NewestMS int64   `json:"newest_ms"`
	Rows     carried `json:"rows"` // rows that the preceding records leave in the derived tables
}

// name returns a segment's file name: its position and enough of its hash to distinguish another
// history.
func (h *segmentHeader) name() string {
	return fmt.Sprintf("%012d-%012d-%.16s%s", h.First, h.Last, h.Hash, segmentEnding)
}

// segment is an existing segment file.
type segment struct {
	path string
	segmentHeader
}

// openSegment opens a segment's file and reads its header.
func openSegment(path string) (s segment, lines *bufio.Reader, closed func() error, err error) {
	file, err := privatefile.Open(path, os.O_RDONLY)
	if err != nil {
		return s, nil, nil, err
	}
	decoder, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return s, nil, nil, errors.Join(err, file.Close())
	}
	closed = func() error { decoder.Close(); return file.Close() }
	lines, s.path = bufio.NewReaderSize(decoder, 64<<10), path
	text, err := readLine(lines, maxHeaderBytes)
	if err == nil {
		err = json.Unmarshal(text, &s.segmentHeader)
	}
	if err == nil && s.Format != segmentFormat {
		err = fmt.Errorf("format %d, this botd knows %d", s.Format, segmentFormat)
	}
	if err == nil && (s.First < 1 || s.Last < s.First) {
		err = fmt.Errorf("records %d to %d", s.First, s.Last)
	}
	if err != nil {
		return s, nil, nil, errors.Join(fmt.Errorf("read segment %s: %w", path, err), closed())
	}
	return s, lines, closed, nil
}

// readLine reads a line up to a maximum length, without its end.
func readLine(lines *bufio.Reader, maxBytes int) (line []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxBytes {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxBytes)
		}
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// each passes on the segment's records and checks the chain from the preceding record.
func (s *segment) each(l *link, visit func(*Stored) error) (err error) {
	found, lines, closed, err := openSegment(s.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	if l.sequence+1 != found.First {
		return &AlteredError{l.sequence + 1, fmt.Errorf("is missing: segment %s begins with record %d", s.path, found.First)}
	}
	for l.sequence < found.Last {
		line, err := readLine(lines, maxRecordBytes)
		if err != nil {
			return &AlteredError{l.sequence + 1, fmt.Errorf("cannot be read from segment %s: %w", s.path, err)}
		}
		hash, body, _ := bytes.Cut(line, []byte(" "))
		stored, err := l.decode(l.sequence+1, string(body), l.hash, string(hash))
		if err != nil {
			return err
		}
		if err := visit(&stored); err != nil {
			return fmt.Errorf("journal record %d: %w", stored.Sequence, err)
		}
	}
	if _, err := lines.ReadByte(); !errors.Is(err, io.EOF) {
		return &AlteredError{found.Last, fmt.Errorf("is not the end of segment %s", s.path)}
	}
	if l.hash != found.Hash {
		return &AlteredError{found.Last, errAltered}
	}
	return nil
}

// writeSegment durably writes the links and texts returned by a query into a segment's file.
func writeSegment(path string, h *segmentHeader, rows *sql.Rows) (err error) {
	file, err := privatefile.Open(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	encoder, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	header, err := json.Marshal(h)
	if err == nil {
		_, err = encoder.Write(append(header, '\n'))
	}
	for err == nil && rows.Next() {
		var hash, body string
		if err = rows.Scan(&hash, &body); err == nil {
			_, err = encoder.Write(fmt.Appendf(nil, "%s %s\n", hash, body))
		}
	}
	if err = errors.Join(err, rows.Err(), encoder.Close()); err != nil {
		return err
	}
	return file.Sync()
}

// Span is a range of records.
type Span struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// String returns both ends of the range.
func (s Span) String() string { return fmt.Sprintf("%d to %d", s.First, s.Last) }

// MissingError means that sealed records are needed whose segments are missing.
type MissingError struct {
	Directory string
	Span
}

// Error names the records.
func (e *MissingError) Error() string {
	return fmt.Sprintf("the segments with records %s are not in %s", e.Span, e.Directory)
}

// Hint returns what a person can do about the error.
func (e *MissingError) Hint() string { return "put the moved segments back" }

// segments returns the segments of one history, oldest first, and the spans missing between and
// before them. A segment belongs to the history if its hash is the one from which its successor, or
// the file, continues.
func (j *Journal) segments(b *base) (found []segment, missing []Span, err error) {
	if b.Through == 0 {
		return nil, nil, nil
	}
	directory := j.segmentsDirectory()
	entries, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read the journal's segments: %w", err)
	}
	var all []segment
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), segmentEnding) {
			continue
		}
		s, _, closed, err := openSegment(filepath.Join(directory, entry.Name()))
		if err != nil {
			return nil, nil, err
		}
		if err := closed(); err != nil {
			return nil, nil, err
		}
		if entry.Name() != s.name() {
			return nil, nil, fmt.Errorf("segment %s has the content that belongs in %s", s.path, s.name())
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b segment) int { return cmp.Compare(b.Last, a.Last) }) // newest first
	next, hash := b.Through+1, b.Hash                                                   // the known successor
	for _, s := range all {
		if s.Last >= next || s.Last == next-1 && hash != "" && s.Hash != hash {
			continue // from another history: a backup from before the segment was restored
		}
		if s.Last < next-1 {
			missing = append(missing, Span{s.Last + 1, next - 1})
		}
		found = append(found, s)
		next, hash = s.First, s.Previous
	}
	if next > 1 {
		missing = append(missing, Span{1, next - 1})
	}
	slices.Reverse(found)
	slices.Reverse(missing)
	return found, missing, nil
}

func (j *Journal) segmentsDirectory() string {
	if j.archive != "" {
		return j.archive
	}
	return SegmentsPath(j.path)
}

// Segments sets the directory from which a journal that is open for reading reads its segments.
func (j *Journal) Segments(directory string) { j.archive = directory }

// reading reads a consistent snapshot of the file: records that are sealed meanwhile stay visible in it.
func (j *Journal) reading(ctx context.Context, use func(*sql.Conn, *base) error) error {
	conn, err := j.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	b, err := readBase(ctx, conn)
	if err != nil {
		return err
	}
	return use(conn, b)
}
