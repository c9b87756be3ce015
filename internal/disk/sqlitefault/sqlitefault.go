// Package sqlitefault is a file layer under SQLite whose calls fail on a test's request.
package sqlitefault

import (
	"fmt"
	"path/filepath"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Layer names a file layer under SQLite that behaves like the operating system's until a directory is set
// to fail: the disk is full, a sync fails, or one call of any kind fails.
const Layer = "faults"

// Faults holds the faults of one directory.
type Faults struct {
	mu   sync.Mutex
	full bool
	sync bool // the next one fails, once
	call int  // number of calls until the one that fails, once; 0: none
}

// FailCall makes the nth call from now fail, once. The call is a read, a write, a sync or a truncation.
func (f *Faults) FailCall(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.call = n
}

// Pending reports whether the call of FailCall is still to come.
func (f *Faults) Pending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.call > 0
}

// fails counts a call and reports whether it must fail.
func (f *Faults) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.call == 0 {
		return false
	}
	f.call--
	return f.call == 0
}

// Full fills the directory's disk or frees it.
func (f *Faults) Full(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full = full
}

// FailSync makes the next sync fail.
func (f *Faults) FailSync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sync = true
}

var faults struct {
	mu          sync.Mutex
	directories map[string]*Faults
	files       map[uintptr]*faultyFile
	methods     map[uintptr]uintptr // ours, by the operating system's
	base        uintptr             // the operating system's layer
}

type faultyFile struct {
	faults *Faults
	base   *sqlite3.Tsqlite3_io_methods
}

// In returns the faults of a directory.
func In(directory string) *Faults {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if faults.directories[directory] == nil {
		faults.directories[directory] = &Faults{}
	}
	return faults.directories[directory]
}

type (
	openFile  = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	writeFile = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	syncFile  = func(*libc.TLS, uintptr, int32) int32
	cutFile   = func(*libc.TLS, uintptr, int64) int32
)

// pointer and function convert a function to the pointer that SQLite calls, and back.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{p})) }

// at returns the value at an address outside of Go's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// Register registers the layer with SQLite.
var Register = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	base := sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(Layer)
	if base == 0 || err != nil {
		return fmt.Errorf("no file layer to build on: %w", err)
	}
	layer := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	v := at[sqlite3.Tsqlite3_vfs](layer)
	*v = *at[sqlite3.Tsqlite3_vfs](base)
	v.FpNext, v.FzName, v.FxOpen = 0, name, pointer[openFile](faultyOpen)
	faults.mu.Lock()
	faults.base, faults.files, faults.methods = base, map[uintptr]*faultyFile{}, map[uintptr]uintptr{}
	if faults.directories == nil {
		faults.directories = map[string]*Faults{}
	}
	faults.mu.Unlock()
	if code := sqlite3.Xsqlite3_vfs_register(tls, layer, 0); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("register the faulty file layer: code %d", code)
	}
	return nil
})

// faultyOpen opens a file like the operating system, and wraps its reads and changes.
func faultyOpen(tls *libc.TLS, layer, name, file uintptr, flags int32, out uintptr) int32 {
	base := at[sqlite3.Tsqlite3_vfs](faults.base)
	code := function[openFile](base.FxOpen)(tls, layer, name, file, flags, out)
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	if code != sqlite3.SQLITE_OK || name == 0 || *methods == 0 {
		return code
	}
	faults.mu.Lock()
	defer faults.mu.Unlock()
	directory := filepath.Dir(libc.GoString(name))
	if faults.directories[directory] == nil {
		faults.directories[directory] = &Faults{}
	}
	faults.files[file] = &faultyFile{faults.directories[directory], at[sqlite3.Tsqlite3_io_methods](*methods)}
	if faults.methods[*methods] == 0 {
		ours := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		m := at[sqlite3.Tsqlite3_io_methods](ours)
		*m = *at[sqlite3.Tsqlite3_io_methods](*methods)
		m.FxRead, m.FxWrite = pointer[writeFile](faultyRead), pointer[writeFile](faultyWrite)
		m.FxSync, m.FxTruncate = pointer[syncFile](faultySync), pointer[cutFile](faultyCut)
		faults.methods[*methods] = ours
	}
	*methods = faults.methods[*methods]
	return code
}

func openedFile(file uintptr) *faultyFile {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	return faults.files[file]
}

// faultyWrite writes half of the data before it reports a full disk, as a disk would.
func faultyWrite(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	f := openedFile(file)
	f.faults.mu.Lock()
	full := f.faults.full
	f.faults.mu.Unlock()
	if full {
		function[writeFile](f.base.FxWrite)(tls, file, buffer, amount/2, offset)
		return sqlite3.SQLITE_FULL
	}
	if f.faults.fails() {
		function[writeFile](f.base.FxWrite)(tls, file, buffer, amount/2, offset)
		return sqlite3.SQLITE_IOERR_WRITE
	}
	return function[writeFile](f.base.FxWrite)(tls, file, buffer, amount, offset)
}

func faultySync(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := openedFile(file)
	f.faults.mu.Lock()
	fail := f.faults.sync
	f.faults.sync = false
	f.faults.mu.Unlock()
	if fail || f.faults.fails() {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	return function[syncFile](f.base.FxSync)(tls, file, flags)
}

func faultyRead(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	f := openedFile(file)
	if f.faults.fails() {
		return sqlite3.SQLITE_IOERR_READ
	}
	return function[writeFile](f.base.FxRead)(tls, file, buffer, amount, offset)
}

func faultyCut(tls *libc.TLS, file uintptr, size int64) int32 {
	f := openedFile(file)
	if f.faults.fails() {
		return sqlite3.SQLITE_IOERR_TRUNCATE
	}
	return function[cutFile](f.base.FxTruncate)(tls, file, size)
}
