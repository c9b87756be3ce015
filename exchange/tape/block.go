package tape

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"botd/exchange/tape/foreign"
)

const (
	blockSize = 1 << 20 // bytes, and so the maximum line length
	padding   = 8       // bytes after a block, so that eight can be loaded anywhere in it
)

// block is a part of a file that ends with a newline.
type block struct {
	data []byte
	done int64 // bytes of the file read so far

	batch *batch // in place of data: rows of a Parquet file
	total int    // of the first block: total number of rows; 0 if unknown
}

// feed reads a file in blocks, one or two ahead of the parser: reading, hashing and unpacking run
// in parallel with parsing.
type feed struct {
	blocks chan block
	free   chan []byte
	stop   chan struct{}
	origin foreign.Origin // set before the first block: where the rows below the header are in the file
	given  string         // set before the first block: the columns, if they differ from the first line
	scale  int            // of prices
	err    error          // set before blocks is closed
	sha    string         // set before blocks is closed
}

// newFeed starts reading; the caller must call close.
func newFeed(path string, size int64, columns string, scale int) (*feed, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	const buffers = 3
	f := &feed{blocks: make(chan block, 1), free: make(chan []byte, buffers), stop: make(chan struct{}),
		origin: foreign.Origin{First: 2, Step: 1}, given: columns, scale: scale}
	length := int(min(blockSize, max(size, 1<<12)+1))
	for range buffers {
		f.free <- make([]byte, length+padding+1)
	}
	go func() {
		defer close(f.blocks)
		defer file.Close()
		f.err = f.read(path, file, size)
	}()
	return f, nil
}

// close stops the reading and waits for its end.
func (f *feed) close() {
	close(f.stop)
	for range f.blocks { // until the reader has closed the file
	}
}

// release returns a block's buffer for reuse.
func (f *feed) release(data []byte) {
	select {
	case f.free <- data[:cap(data)]:
	default: // a buffer of its own
	}
}

var errStopped = errors.New("stopped")

func (f *feed) read(path string, file *os.File, size int64) error {
	if read, err := f.columns(path, file, size); read || err != nil {
		return err
	}
	raw := &counted{reader: file, hash: sha256.New()}
	unpacked, err := unpack(path, raw)
	if err != nil {
		return err
	}
	if closer, ok := unpacked.(io.Closer); ok {
		defer closer.Close()
	}
	stream, err := f.translate(path, unpacked)
	if err != nil {
		return err
	}
	if err := f.split(path, raw, stream); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, raw); err != nil { // the hash is of the whole file
		return err
	}
	f.sha = hex.EncodeToString(raw.hash.Sum(nil))
	return nil
}

// translate returns the stream as the CSV that the parser reads. A file in the store's own format,
// the common case, passes through unchanged, and so does an unknown format, so that the parser
// reports the error.
func (f *feed) translate(path string, stream io.Reader) (io.Reader, error) {
	const examined = 1 << 16
	head := bufio.NewReaderSize(stream, examined)
	first, err := head.Peek(examined)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if native(first, f.given) {
		return head, nil
	}
	translated, origin, err := foreign.CSV(head, f.given)
	switch {
	case err == nil:
		f.origin, f.given = origin, ""
		return translated, nil
	case errors.Is(err, foreign.ErrUnknown):
		return head, nil
	}
	return nil, &DataError{Path: path, What: "the file cannot be read: " + err.Error(), Hint: "is it complete?"}
}

// native reports whether the parser can read the text unchanged: its columns are known, and the
// first times are ascending numbers of milli- or microseconds.
func native(text []byte, columns string) bool {
	line, body, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte{'\n'})
	known, isRow, err := layoutOf("", string(line))
	if columns != "" {
		known, isRow, err = layoutGiven(columns, string(line))
	}
	if err != nil {
		return false
	}
	if isRow {
		body = append(append(line[:len(line):len(line)], '\n'), body...)
	}
	last, at := int64(0), slices.Index(known, openTime)
	for range 2 {
		line, body, _ = bytes.Cut(body, []byte{'\n'})
		fields := split(nil, line)
		if at >= len(fields) || len(fields[at]) == 0 {
			return true // the parser reports the error
		}
		now, ok := wholeOf(fields[at])
		if now = milliseconds(now); !ok || now < seconds || now < last {
			return false
		}
		last = now
	}
	return true
}

// unpack returns the CSV's bytes from a plain, gzip, ZIP or Parquet file.
func unpack(path string, raw io.Reader) (io.Reader, error) {
	head := bufio.NewReaderSize(raw, blockSize)
	magic, _ := head.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		reader, err := gzip.NewReader(head)
		if err != nil {
			return nil, broken(path, err)
		}
		return &gunzip{path, reader}, nil
	case string(magic) == "FEA1":
		return nil, &DataError{Path: path, What: "feather of version 1, which nobody has written by default since 2020, is not read",
			Hint: `rewrite it: python3 -c 'import pandas; pandas.read_feather("IN").to_feather("OUT")'`}
	case string(magic) == "PAR1":
		return parquetAsCSV(path)
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")):
		return zipped(path)
	}
	return head, nil
}

func broken(path string, err error) error {
	return &DataError{Path: path, What: "the gzip stream is broken: " + err.Error(), Hint: "was the download complete?"}
}

// gunzip adds the file's name to errors of the stream.
type gunzip struct {
	path   string
	reader *gzip.Reader
}

func (g *gunzip) Read(into []byte) (int, error) {
	n, err := g.reader.Read(into)
	if err != nil && err != io.EOF {
		err = broken(g.path, err)
	}
	return n, err
}

// counted hashes and counts the bytes that are read.
type counted struct {
	reader io.Reader
	hash   hash.Hash
	count  int64
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.reader.Read(into)
	c.hash.Write(into[:n])
	c.count += int64(n)
	return n, err
}

// split cuts the stream at newlines and passes the blocks on.
func (f *feed) split(path string, raw *counted, stream io.Reader) error {
	var rest []byte // the beginning of a line that continues in the next block
	for total := int64(0); ; {
		var buffer []byte
		select {
		case buffer = <-f.free:
		case <-f.stop:
			return errStopped
		}
		room := buffer[:len(buffer)-padding-1] // and one byte for the newline that a last line may lack
		begun := copy(room, rest)
		n, err := io.ReadFull(stream, room[begun:])
		if total += int64(n); total > maxUnpacked {
			return &DataError{Path: path, What: fmt.Sprintf("the unpacked file has more than %d bytes", int64(maxUnpacked)), Hint: "split the file"}
		}
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return err
		}
		filled := room[:begun+n]
		end := bytes.LastIndexByte(filled, '\n') + 1
		switch {
		case last && end < len(filled):
			filled = append(filled, '\n')
			end = len(filled)
		case !last && end == 0:
			return &DataError{Path: path, What: fmt.Sprintf("a line is longer than %d bytes", len(room)), Hint: "is it a CSV file?"}
		}
		rest = append(rest[:0], filled[end:]...)
		if end > 0 {
			select {
			case f.blocks <- block{data: filled[:end], done: raw.count}:
			case <-f.stop:
				return errStopped
			}
		}
		if last {
			return nil
		}
	}
}
