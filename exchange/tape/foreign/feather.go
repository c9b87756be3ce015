package foreign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Feather files, version 2, are Arrow's IPC file format: a footer locates the schema and the
// batches of rows, and each batch contains the buffers of its columns, compressed or not. freqtrade
// and pandas write them, compressed with LZ4. Tables, fields and numbers below follow Arrow's
// File.fbs, Message.fbs and Schema.fbs.

// featherMagic begins and ends a file; the footer's length precedes the end.
var featherMagic = []byte("ARROW1")

const featherTail = 4 + 6

var (
	errFeatherCut    = errors.New("the Arrow file (feather) is truncated or damaged")
	errFeatherEndian = errors.New("the Arrow file (feather) is big endian")
)

// table is a table of a flatbuffer. Reading outside of the bytes panics, which rowsOfFeather turns
// into an error.
type table struct{ flatbuffers.Table }

func root(data []byte) table {
	return table{flatbuffers.Table{Bytes: data, Pos: flatbuffers.GetUOffsetT(data)}}
}

// offset returns the position of the table's field, or 0 for an absent field, which has its
// default.
func (t table) offset(field int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*field)))
}

func (t table) byte(field int) byte { return t.GetByteSlot(flatbuffers.VOffsetT(4+2*field), 0) }

func (t table) short(field int, absent int16) int16 {
	return t.GetInt16Slot(flatbuffers.VOffsetT(4+2*field), absent)
}

func (t table) long(field int) int64 { return t.GetInt64Slot(flatbuffers.VOffsetT(4+2*field), 0) }

// table returns the table in a field.
func (t table) table(field int) (inner table, found bool) {
	o := t.offset(field)
	if o == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(o + t.Pos)}}, true
}

// list returns the length of the vector in a field and the position of its elements.
func (t table) list(field int) (length int, begin flatbuffers.UOffsetT) {
	o := t.offset(field)
	if o == 0 {
		return 0, 0
	}
	return t.VectorLen(o), t.Vector(o)
}

// rowsOfFeather returns the rows of a file as CSV, with the columns' names as its header.
func rowsOfFeather(data []byte) (rows []byte, err error) {
	defer func() {
		if recover() != nil {
			rows, err = nil, errFeatherCut
		}
	}()
	if len(data) < len(featherMagic)+featherTail || !bytes.HasSuffix(data, featherMagic) {
		return nil, errFeatherCut
	}
	end := len(data) - featherTail
	footer := root(data[end-int(binary.LittleEndian.Uint32(data[end:])) : end])
	schema, found := footer.table(1)
	if !found {
		return nil, errFeatherCut
	}
	if schema.short(0, 0) != 0 {
		return nil, errFeatherEndian
	}
	columns, err := featherColumns(schema)
	if err != nil {
		return nil, err
	}
	for c := range columns {
		rows = append(appendSeparated(rows, c), plain(columns[c].name)...)
	}
	rows = append(rows, '\n')
	blocks, begin := footer.list(3)
	for b := range blocks {
		const block = 24 // bytes: offset, length of the metadata, padding, length of the body
		at := footer.Bytes[int(begin)+block*b:]
		offset, metadata, body := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint32(at[8:]), binary.LittleEndian.Uint64(at[16:])
		message := data[offset : offset+uint64(metadata)]
		if rows, err = appendBatch(rows, columns, message, data[offset+uint64(metadata):][:body]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// appendBatch appends the rows of a batch.
func appendBatch(rows []byte, columns []featherColumn, message, body []byte) ([]byte, error) {
	const continued, prefix, isBatch = 0xFFFFFFFF, 8, 3
	if binary.LittleEndian.Uint32(message) != continued {
		return nil, errors.New("the Arrow file (feather) was written before 2020 (its messages have an older format)")
	}
	header := root(message[prefix:])
	if header.byte(1) != isBatch {
		return nil, errFeatherCut
	}
	batch, found := header.table(2)
	if !found {
		return nil, errFeatherCut
	}
	length := batch.long(0)
	count, begin := batch.list(2)
	next, unpacked := 0, 0
	buffers := batch.Bytes[begin:][:16*count]
	nextBuffer := func() ([]byte, error) { // the next buffer, unpacked
		at := buffers[16*next:]
		next++
		raw := body[binary.LittleEndian.Uint64(at):][:binary.LittleEndian.Uint64(at[8:])]
		packing, packed := batch.table(3)
		if !packed || len(raw) == 0 {
			return raw, nil
		}
		buffer, err := unpack(raw, packing.byte(0), maxFile-unpacked)
		unpacked += len(buffer)
		return buffer, err
	}
	values := make([]featherValues, len(columns))
	for c := range columns {
		if err := values[c].read(columns[c].buffers, nextBuffer); err != nil {
			return nil, fmt.Errorf("column %s: %w", columns[c].name, err)
		}
	}
	for i := range int(length) {
		for c := range columns {
			rows = appendSeparated(rows, c)
			if values[c].has(i) {
				rows = columns[c].append(rows, &values[c], i)
			}
		}
		if rows = append(rows, '\n'); len(rows) > maxFile {
			return nil, errTooLarge
		}
	}
	return rows, nil
}

// appendSeparated appends the comma before all columns but the first.
func appendSeparated(rows []byte, column int) []byte {
	if column > 0 {
		rows = append(rows, ',')
	}
	return rows
}
