// Package starter writes the files that a new strategy starts from: a script with its settings, or a Go module.
package starter

import (
	"embed"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"botd/internal/failure"
)

//go:embed template template/module
var templates embed.FS

var strategyName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// CheckName refuses a name that a new strategy cannot have.
func CheckName(name string) error {
	if !strategyName.MatchString(name) {
		return failure.Usagef("%q is not a name of 1 to 32 of a-z, 0-9 and -, beginning with a letter", name)
	}
	return nil
}

// WriteScript writes a script and its settings into a directory, and passes on each written file.
func WriteScript(name, directory string, written func(file string)) error {
	if err := CheckName(name); err != nil {
		return err
	}
	for _, kind := range []string{"star", "yaml"} {
		file := filepath.Join(directory, name+"."+kind)
		if err := writeTemplate("template/script."+kind, file, map[string]string{"Name": name}); err != nil {
			return err
		}
		written(file)
	}
	return nil
}

// writeTemplate creates a file from a template and fails if it exists.
func writeTemplate(from, to string, values any) error {
	made, err := template.ParseFS(templates, from)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := made.Execute(&text, values); err != nil {
		return err
	}
	return WriteNew(to, text.String())
}

// WriteNew creates a file, with the directories above it, and fails if it exists.
func WriteNew(to, text string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return failure.New(failure.Usage, "choose another name, or move that file", "%s exists already", to)
	}
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	_, err = io.WriteString(file, text)
	if err = errors.Join(err, file.Close()); err != nil {
		return failure.Wrap(failure.IO, errors.Join(err, os.Remove(to))) // a partial file would block the next attempt
	}
	return nil
}
