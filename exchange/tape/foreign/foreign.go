// Package foreign converts candle files of other sources to the CSV that package tape parses.
//
// It reads the layouts of exchanges, data vendors and other trading programs: headers with their
// own names, lines before the header, files without one, newest rows first, times as seconds,
// milliseconds, micro- or nanoseconds or as dates, other delimiters, JSON, and Arrow's IPC files
// (feather). The first rows determine the meaning of each column, and no guess may contradict the
// prices. Numbers pass unchanged except for float noise. Each line becomes one line, so errors name
// the line of the file.
package foreign

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Origin maps translated rows to lines of the file.
type Origin struct {
	First int // line of the first row
	Step  int // to the line of the next row: -1 for a file with its newest row first
}

// ErrUnknown means that the file has none of the known layouts.
var ErrUnknown = errors.New("the layout of the file is unknown")

// maxFile bounds files that must be in memory as a whole: those with the newest row first, JSON, and feather.
const maxFile = 2 << 30

var errTooLarge = errors.New("more than 2 GiB in a layout that must be read as a whole")

// CSV returns the stream's candles as CSV with package tape's header, oldest first. The reader's
// buffer must be large enough to show the first rows. columns are the user's names of the columns,
// from left to right, or empty to detect them. If the error is ErrUnknown, the stream is unread
// except for a byte order mark.
func CSV(stream *bufio.Reader, columns string) (io.Reader, Origin, error) {
	head, err := stream.Peek(stream.Size())
	if err != nil && err != io.EOF {
		return nil, Origin{}, err
	}
	whole := err == io.EOF
	if bytes.HasPrefix(head, byteOrderMark) {
		head = head[len(byteOrderMark):]
		if _, err := stream.Discard(len(byteOrderMark)); err != nil {
			return nil, Origin{}, err
		}
	}
	var rows func([]byte) ([]byte, error)
	switch text := bytes.TrimLeft(head, " \r\n\t"); {
	case bytes.HasPrefix(head, featherMagic):
		rows = rowsOfFeather
	case len(text) > 0 && (text[0] == '[' || text[0] == '{'):
		rows = rowsOfJSON
	default:
		return translate(stream, head, whole, columns)
	}
	data, err := readAll(stream)
	if err != nil {
		return nil, Origin{}, err
	}
	if data, err = rows(data); err != nil {
		return nil, Origin{}, err
	}
	return translate(bytes.NewReader(data), data, true, columns)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// translate returns the translated rows of a text that begins with head.
func translate(text io.Reader, head []byte, whole bool, columns string) (io.Reader, Origin, error) {
	sheet, err := examine(head, whole, columns)
	if err != nil {
		return nil, Origin{}, err
	}
	t := &translated{sheet: sheet, out: []byte(sheet.header())}
	if !sheet.newestFirst {
		t.lines = bufio.NewReaderSize(text, maxLine)
		for range sheet.begin {
			if _, err := t.lines.ReadSlice('\n'); err != nil {
				return nil, Origin{}, err
			}
		}
		return t, Origin{First: sheet.begin + 1, Step: 1}, nil
	}
	data, err := readAll(text)
	if err != nil {
		return nil, Origin{}, err
	}
	lines := bytes.Split(bytes.TrimRight(data, "\r\n"), []byte{'\n'})
	slices.Reverse(lines[sheet.begin:])
	t.lines = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Join(lines[sheet.begin:], []byte{'\n'})), strings.NewReader("\n")), maxLine)
	return t, Origin{First: len(lines), Step: -1}, nil
}

func readAll(text io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(text, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errTooLarge
	}
	return data, err
}

// maxLine bounds a line.
const maxLine = 1 << 20

// translated is a reader of the rows in package tape's layout.
type translated struct {
	sheet  *sheet
	lines  *bufio.Reader
	out    []byte // translated, not yet read
	fields []string
	err    error
}

// Read implements io.Reader.
func (t *translated) Read(into []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		var line []byte
		line, t.err = t.lines.ReadSlice('\n')
		if len(line) > 0 {
			t.out = t.row(t.out[:0], line)
		}
	}
	n := copy(into, t.out)
	t.out = t.out[n:]
	return n, nil
}

// row appends a line's candle as a line. It passes an unreadable time on, without commas, for the
// parser to refuse.
func (t *translated) row(out, line []byte) []byte {
	s := t.sheet
	if len(bytes.TrimSpace(line)) == 0 {
		return append(out, '\n')
	}
	t.fields = split(t.fields[:0], string(line), s.delimiter)
	if at, ok := s.timeOf(t.fields); ok {
		out = strconv.AppendInt(out, at, 10)
	} else {
		out = append(out, plain(s.timeText(t.fields))...)
	}
	for c := openColumn; c < columnEnd; c++ {
		if c > volumeColumn && s.at[c] < 0 {
			continue
		}
		out = append(append(out, ','), s.number(t.fields, c)...)
	}
	return append(out, '\n')
}

// plain removes characters that would start another column or line.
func plain(text string) string {
	return strings.NewReplacer(",", " ", "\n", " ", "\r", " ").Replace(text)
}
