package tape

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// zipped returns the only CSV file inside a ZIP archive, as exchanges offer them.
func zipped(name string) (io.ReadCloser, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	inside, err := onlyFile(name, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	stream, err := inside.Open()
	if err != nil {
		file.Close()
		return nil, &DataError{Path: name, What: fmt.Sprintf("%s in the archive cannot be read: %v", inside.Name, err)}
	}
	return &archived{name, stream, file}, nil
}

// onlyFile finds the CSV of an archive, which must be the only one.
func onlyFile(name string, file *os.File) (*zip.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, &DataError{Path: name, What: "the ZIP archive is broken: " + err.Error(), Hint: "was the download complete?"}
	}
	var found []*zip.File
	for _, f := range archive.File {
		if strings.EqualFold(path.Ext(f.Name), ".csv") {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return nil, &DataError{Path: name, What: fmt.Sprintf("the ZIP archive holds %d CSV files", len(found)),
			Hint: "it must hold one; unpack it and pass the files separately"}
	}
	return found[0], nil
}

// archived adds the archive's name to errors of the stream, and closes both.
type archived struct {
	name   string
	stream io.ReadCloser
	file   *os.File
}

func (a *archived) Read(into []byte) (int, error) {
	n, err := a.stream.Read(into)
	if err != nil && err != io.EOF {
		err = &DataError{Path: a.name, What: "the ZIP archive is broken: " + err.Error(), Hint: "was the download complete?"}
	}
	return n, err
}

func (a *archived) Close() error {
	a.stream.Close()
	return a.file.Close()
}
