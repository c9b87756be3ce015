package strategy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Source is the text of a script and of the libraries that it loads. Compiling it opens no file.
type Source struct {
	File      string    `json:"file"` // for messages
	Text      []byte    `json:"source"`
	Libraries []Library `json:"libraries,omitempty"` // sorted by name
}

// Library is a file that a script, or another library, loads.
type Library struct {
	Name  string `json:"name"` // name in the load statement: the path in the folder of the strategy's file
	File  string `json:"file"` // for messages
	Text  []byte `json:"text,omitempty"`
	Fault string `json:"fault,omitempty"` // reason why it could not be read
}

// Bounds of the loaded libraries in total: they are sent to a separate process in one message.
const (
	maxLibraries    = 64
	maxLibraryBytes = 4 << 20
)

// loads finds the names in load("lib.star", ...). A false match in a comment or a string only costs
// a read, because the compiler decides which libraries are loaded.
var loads = regexp.MustCompile(`\bload\s*\(\s*(?:"([^"\n]*)"|'([^'\n]*)')`)

// Gather reads the libraries that the script names, those that they name, and so on. It does not
// read names that are not paths in the folder.
func (s *Source) Gather(read func(name string) (text []byte, found bool, err error)) {
	known, total := map[string]bool{}, 0
	queued := [][]byte{s.Text}
	for len(queued) > 0 {
		text := queued[0]
		queued = queued[1:]
		for _, match := range loads.FindAllSubmatch(text, -1) {
			name := string(match[1]) + string(match[2])
			if known[name] || len(known) >= maxLibraries || !LibraryName(name) {
				continue
			}
			known[name] = true
			library := Library{Name: name, File: path.Join(path.Dir(s.File), name)}
			read, found, err := read(name)
			switch {
			case err != nil:
				library.Fault = err.Error()
			case !found:
				continue
			case total+len(read) > maxLibraryBytes:
				library.Fault = fmt.Sprintf("the libraries of a script may have at most %d bytes in total", maxLibraryBytes)
			default:
				library.Text, total = read, total+len(read)
				queued = append(queued, read)
			}
			s.Libraries = append(s.Libraries, library)
		}
	}
	slices.SortFunc(s.Libraries, func(a, b Library) int { return cmp.Compare(a.Name, b.Name) })
}

// LibraryName reports whether a name is the path of a Starlark file in or below the folder.
func LibraryName(name string) bool {
	return path.Ext(name) == ".star" && path.Clean(name) == name && !path.IsAbs(name) && !strings.HasPrefix(name, "../")
}

// SHA256 identifies the script with its libraries. Without libraries it is the hash of the text
// alone.
func (s *Source) SHA256() string {
	sum := sha256.New()
	write(sum, s.Text)
	for i := range s.Libraries {
		l := &s.Libraries[i]
		write(sum, fmt.Appendf(nil, "\x00%s\x00%d\x00", l.Name, len(l.Text)))
		write(sum, l.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func write(sum hash.Hash, text []byte) { _, _ = sum.Write(text) } // never fails
