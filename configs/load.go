package configs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// Names inside a configuration directory.
const (
	rootFile       = "botd.yaml"
	StrategyFolder = "strategies" // contains *.yaml, one strategy per file
)

// LoadDirectory reads and checks the configuration in a directory on disk.
func LoadDirectory(directory string, options Options) (*Config, Problems) {
	found, err := os.Stat(directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Problems{{File: directory, What: "there is no such directory",
			Hint: "name the directory that contains botd.yaml with -c; without -c, botd run uses its built-in examples"}}
	case err != nil:
		return nil, Problems{{File: directory, What: "cannot be read: " + reason(err)}}
	case !found.IsDir():
		return nil, Problems{{File: directory, What: "is a file, not a directory", Hint: "give -c the directory that contains botd.yaml and strategies/"}}
	}
	return load(&loader{files: os.DirFS(directory), disk: directory, directory: filepath.ToSlash(directory), options: options})
}

// Load reads and checks a configuration: botd.yaml and strategies/*.yaml in files. The directory's name is only for
// messages. The Config is nil when any problem is an error; warnings may accompany it.
func Load(files fs.FS, directory string, options Options) (*Config, Problems) {
	return load(&loader{files: files, directory: directory, options: options})
}

func load(l *loader) (*Config, Problems) {
	l.config = defaults()
	l.config.Directory = l.directory
	l.config.Exchange.CredentialsDirectory = l.options.CredentialsDirectory
	names := l.list()
	if l.problems.Errors() == 0 {
		l.root(names.root)
		l.strategies(names.strategies)
		l.checkRequests()
	}
	l.problems.sort()
	if l.problems.Errors() > 0 {
		return nil, l.problems
	}
	return l.config, l.problems
}

// loader reads one configuration.
type loader struct {
	files         fs.FS
	disk          string // the directory on disk; empty if there is none
	directory     string
	options       Options
	config        *Config
	problems      Problems
	displayedPath string // the displayed path of a single file, unless it is joined from the directory
	modeLine      int    // line of the mode in botd.yaml
}

func (l *loader) name(file string) string {
	switch {
	case l.displayedPath != "":
		return l.displayedPath
	case l.directory == "":
		return file
	}
	return path.Join(l.directory, file)
}

func (l *loader) document(file string) *document {
	return &document{file: l.name(file), problems: &l.problems}
}

// reason returns a file system error without the path, which the message already shows.
func reason(err error) string {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err.Error()
	}
	return err.Error()
}

type listing struct {
	root       bool
	strategies []string // by name
}

// list finds the files, and reports those whose names prevent botd from reading them.
func (l *loader) list() listing {
	var found listing
	top, err := fs.ReadDir(l.files, ".")
	if err != nil {
		l.document(".").fail(0, "", "cannot be read: %s", reason(err))
		return found
	}
	for _, item := range top {
		switch {
		case item.Name() == rootFile:
			found.root = true
		case item.Name() == "botd.yml":
			l.document(item.Name()).fail(0, "rename it to "+rootFile, "is not read under this name")
		}
	}
	items, err := fs.ReadDir(l.files, StrategyFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.document(StrategyFolder).fail(0, "", "cannot be read: %s", reason(err))
	}
	for _, item := range items {
		name := item.Name()
		file := path.Join(StrategyFolder, name)
		switch {
		case strings.HasPrefix(name, ".") || item.IsDir():
		case path.Ext(name) == ".yaml":
			found.strategies = append(found.strategies, file)
		case path.Ext(name) == ".yml":
			l.document(file).report(Warning, 0, 0, "rename it to "+strings.TrimSuffix(name, ".yml")+".yaml", "is not read under this name")
		}
	}
	switch {
	case !found.root && len(found.strategies) == 0 && len(l.problems) == 0:
		l.document(".").fail(0, "give -c the right directory, or start with the examples", "the directory contains neither %s nor "+
			"%s/*.yaml", rootFile, StrategyFolder)
	case !found.root && len(found.strategies) > 0:
		l.document(rootFile).report(Warning, 0, 0, "", "there is no such file; the defaults apply, in mode demo")
	}
	return found
}

// read returns a file's top block, or nil after reporting a problem.
func (l *loader) read(file string) (*document, *yaml.Node) {
	d := l.document(file)
	text, err := fs.ReadFile(l.files, file)
	if err != nil {
		d.fail(0, "", "cannot be read: %s", reason(err))
		return d, nil
	}
	l.config.Files = append(l.config.Files, l.name(file))
	node := d.parse(text)
	if node != nil {
		lines := map[string]int{}
		noteLines("", node, lines)
		if l.config.lines == nil {
			l.config.lines = map[string]map[string]int{}
		}
		l.config.lines[l.name(file)] = lines
	}
	return d, node
}

// root reads botd.yaml.
func (l *loader) root(present bool) {
	l.config.rootName = l.name(rootFile)
	var node *yaml.Node
	d := l.document(rootFile)
	if present {
		if d, node = l.read(rootFile); node == nil {
			return
		}
		if len(node.Content) == 0 {
			d.report(Warning, 0, 0, "", "is empty; the defaults apply, in mode demo")
		}
	}
	s := newSection(d, "", node)
	s.read(l.keys())
	l.checkListen(s)
}
