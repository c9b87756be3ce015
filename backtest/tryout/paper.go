package tryout

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"botd/internal/failure"
)

// WritePaper writes a configuration of mode paper, at the prices of a venue, into the try's directory, and returns its directory and the
// strategy's name. A second try continues the account and the journal of the first.
func (t *Try) WritePaper(venue string) (directory, name string, err error) {
	c, err := t.given()
	if err != nil {
		return "", "", err
	}
	directory = filepath.Join(t.Out, "paper")
	if err := os.MkdirAll(filepath.Join(directory, "strategies"), 0o700); err != nil {
		return "", "", failure.Wrap(failure.IO, err)
	}
	data, err := filepath.Abs(filepath.Join(directory, "data"))
	if err != nil {
		return "", "", failure.Wrap(failure.IO, err)
	}
	put := func(name, text string) error {
		return os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600)
	}
	errs := []error{
		put("botd.yaml", fmt.Sprintf("mode: paper\ninstance: try\ndata_dir: %q\nexchange: {base_url: %q}\nsimulated: {futures: %[3]s, spot: {USDT: %[3]s}}\n",
			data, venue, c.Backtest.Cash)),
		put(path.Join("strategies", c.Name+".yaml"), c.Effective()),
	}
	if c.Script.File != "" {
		copied := path.Join("strategies", path.Dir(c.Script.File))
		errs = append(errs, os.MkdirAll(filepath.Join(directory, filepath.FromSlash(copied)), 0o700),
			put(path.Join("strategies", c.Script.File), c.Script.Text))
		for _, library := range c.Script.Libraries {
			name := path.Join(copied, library.Name)
			errs = append(errs, os.MkdirAll(filepath.Join(directory, filepath.FromSlash(path.Dir(name))), 0o700), put(name, string(library.Text)))
		}
	}
	return directory, c.Name, failure.Wrap(failure.IO, errors.Join(errs...))
}
