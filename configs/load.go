package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/spell"
)

// Names inside a configuration directory.
const (
	rootFile       = "botd.yaml"
	StrategyFolder = "strategies" // its *.yaml, one strategy a file
)

// LoadDirectory reads and checks the configuration in a directory on disk.
func LoadDirectory(directory string, options Options) (*Config, Problems) {
	found, err := os.Stat(directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Problems{{File: directory, What: "there is no such directory", Hint: "name the directory that holds botd.yaml with -c; without any, botd run uses its built-in examples"}}
	case err != nil:
		return nil, Problems{{File: directory, What: "cannot be read: " + reason(err)}}
	case !found.IsDir():
		return nil, Problems{{File: directory, What: "is a file, not a directory", Hint: "give -c the directory that holds botd.yaml and strategies/"}}
	}
	return Load(os.DirFS(directory), filepath.ToSlash(directory), options)
}

// Load reads and checks a configuration: botd.yaml and strategies/*.yaml in
// files. The directory's name is for messages only. The Config is nil when any
// problem is an error; warnings may come beside it.
func Load(files fs.FS, directory string, options Options) (*Config, Problems) {
	l := &loader{files: files, directory: directory, options: options, config: defaults()}
	l.config.Directory = directory
	l.config.Exchange.CredentialsDirectory = options.CredentialsDirectory
	names := l.list()
	if l.problems.Errors() == 0 {
		l.root(names.root)
		l.strategies(names.strategies)
	}
	l.problems.sort()
	if l.problems.Errors() > 0 {
		return nil, l.problems
	}
	return l.config, l.problems
}

// loader reads one configuration.
type loader struct {
	files     fs.FS
	directory string
	options   Options
	config    *Config
	problems  Problems
	keys      *[]Key // learned, when somebody asks for them
	shown     string // how a file given by itself is named, when not by joining
}

func (l *loader) name(file string) string {
	switch {
	case l.shown != "":
		return l.shown
	case l.directory == "":
		return file
	}
	return path.Join(l.directory, file)
}

func (l *loader) document(file string) *document { return &document{l.name(file), &l.problems, l.keys} }

// reason is an error of the file system without the path, which is said already.
func reason(err error) string {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		return inner.Err.Error()
	}
	return err.Error()
}

type listing struct {
	root       bool
	strategies []string // by name
}

// list finds the files, and tells of those whose names keep them from being read.
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
		l.document(".").fail(0, "give -c the right directory, or begin with the examples", "there is neither %s nor %s/*.yaml here", rootFile, StrategyFolder)
	case !found.root && len(found.strategies) > 0:
		l.document(rootFile).report(Warning, 0, 0, "", "there is no such file; the defaults apply, in mode demo")
	}
	return found
}

// read returns a file's top block, or nil after saying what is wrong with it.
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

func (l *loader) root(present bool) {
	c := l.config
	c.rootName = l.name(rootFile)
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
	s.choice("mode", (*string)(&c.Mode), string(Demo), string(Paper), string(Live))
	c.fileMode = c.Mode
	if l.options.Mode != "" {
		c.Mode = l.options.Mode
	}
	c.Exchange.Settle = defaultSettle(c.Mode)
	if node := s.text("instance", &c.Instance); node != nil && !instanceName.MatchString(c.Instance) {
		s.wrong(node, "it is part of every order's id", "instance %q is not 1 to 10 of a-z and 0-9", shortened(c.Instance))
	}
	l.exchange(s)
	l.simulated(s)
	l.paper(s)
	s.text("data_dir", &c.DataDir)
	l.journal(s)
	s.choice("foreign", &c.Foreign, "halt", "adopt", "ignore")
	s.choice("shutdown", &c.Shutdown, "leave", "cancel_orders", "flatten")
	retention := s.section("retention")
	retention.duration("decisions", &c.Retention.DecisionsMS, hour, maxDurationMS)
	retention.whole("recorded_mib", &c.Retention.RecordedMiB, 0, maxRecordedMiB)
	retention.done()
	l.access(s)
	l.listen(s)
	l.notify(s)
	l.signals(s)
	l.telegram(s)
	limits := s.section("risk")
	limits.limits(&c.Limits, false)
	limits.done()
	s.done()
}

// maxRecordedMiB is a terabyte.
const maxRecordedMiB = 1 << 20

var instanceName = regexp.MustCompile(`^[a-z0-9]{1,10}$`)

func (l *loader) exchange(root *section) {
	e := &l.config.Exchange
	s := root.section("exchange")
	l.baseURL(s, root.lineOf("mode"))
	l.secretFiles(s, root.lineOf("mode"))
	signature := s.section("signature")
	if node := signature.text("payload", &e.Signature.Payload); node != nil {
		checkPayload(signature, node)
	}
	signature.choice("encoding", &e.Signature.Encoding, "hex", "base64")
	signature.done()
	settle := s.section("settle")
	settle.duration("window", &e.Settle.WindowMS, 1, hour)
	settle.duration("visibility", &e.Settle.VisibilityMS, 0, hour)
	settle.duration("staleness", &e.Settle.StalenessMS, 0, hour)
	settle.done()
	breaker := s.section("breaker")
	breaker.whole("unknowns", &e.Breaker.Unknowns, 1, 1000)
	breaker.duration("within", &e.Breaker.WithinMS, second, 7*day)
	breaker.duration("pause", &e.Breaker.PauseMS, second, 7*day)
	breaker.whole("empty_endings", &e.Breaker.EmptyEndings, 1, 1000)
	breaker.duration("empty_pause", &e.Breaker.EmptyPauseMS, second, 7*day)
	breaker.done()
	s.whole("requests_per_second", &e.RequestsPerSecond, 0, 10_000)
	s.done()
}

func (l *loader) baseURL(s *section, modeLine int) {
	e := &l.config.Exchange
	node := s.text("base_url", &e.BaseURL)
	if node == nil {
		if l.config.Mode != Demo && s.find("base_url") == nil {
			s.fail(modeLine, "write exchange: {base_url: https://...}", "mode %s needs exchange.base_url", l.config.Mode)
		}
		return
	}
	address, err := url.Parse(e.BaseURL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		s.wrong(node, "write https://host or, for a test on this machine, http://127.0.0.1:port", "exchange.base_url is not an address")
	case address.User != nil:
		s.wrong(node, "take user and password out; keys go into key_file and secret_file", "exchange.base_url holds a user name or password")
	case address.RawQuery != "" || address.Fragment != "":
		s.wrong(node, "end it before the ? or #", "exchange.base_url has a query or fragment")
	case address.Scheme == "http" && !loopback(address.Hostname()):
		s.wrong(node, "write https://"+address.Host, "exchange.base_url is http, which only loopback addresses may be")
	default:
		e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	}
}

func loopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost"
}

// secretFiles reads where the credentials are, never the credentials.
func (l *loader) secretFiles(s *section, modeLine int) {
	e := &l.config.Exchange
	for _, file := range []struct {
		key  string
		into *string
	}{{"key_file", &e.KeyFile}, {"secret_file", &e.SecretFile}} {
		node := s.text(file.key, file.into)
		switch {
		case node != nil && looksSecret(node.Value):
			s.report(Error, node.Line, node.Column, "write the secret to a file of mode 600 and its path here; change it if others could read this file",
				"exchange."+file.key+" looks like the secret itself, not like a path")
		case node == nil && l.config.Mode == Live && e.CredentialsDirectory == "" && s.find(file.key) == nil:
			s.fail(modeLine, "name a file of mode 600, or use systemd credentials BOTD_KEY and BOTD_SECRET", "mode live needs exchange.%s", file.key)
		}
	}
}

var bareSecret = regexp.MustCompile(`^[A-Za-z0-9+=_-]{24,}$`)

// looksSecret reports whether a text meant to be a path is long and without
// any separator, as keys are.
func looksSecret(text string) bool { return bareSecret.MatchString(text) }

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

func checkPayload(s *section, node *yaml.Node) {
	known := []string{"{timestamp}", "{method}", "{path}", "{body}", "{query}", "{key}"}
	hint := "known are " + strings.Join(known, ", ")
	found := placeholder.FindAllString(node.Value, -1)
	for _, word := range found {
		if near := spell.Nearest(word, known); near != word {
			if near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			s.wrong(node, hint, "%spayload has %s, which is not known", s.path, shortened(word))
			return
		}
	}
	if len(found) == 0 {
		s.wrong(node, hint, "%spayload names nothing of the request", s.path)
	}
}

func (l *loader) journal(s *section) {
	c := l.config
	node := s.text("journal", &c.Journal)
	if node == nil {
		return
	}
	address, err := url.Parse(c.Journal)
	if err != nil || address.Scheme != "postgres" && address.Scheme != "postgresql" {
		s.wrong(node, "leave the line out: the journal is SQLite in data_dir", "journal is not a PostgreSQL address")
		return
	}
	s.warn(node, "leave the line out: the journal is SQLite in data_dir", "journal in PostgreSQL is not in this version: botd run refuses it")
	if _, given := address.User.Password(); given || address.Query().Has("password") {
		s.warn(node, "keep it in a password file: PGPASSFILE, or passfile= in the address", "journal holds a password, which everybody who reads this file can see")
	}
}

// ListenOff is the address of a daemon that is asked by its unix socket alone.
const ListenOff = "off"

func (l *loader) listen(s *section) {
	c := l.config
	node := s.text("listen", &c.Listen)
	if node == nil || c.Listen == ListenOff {
		return
	}
	host, well := hostOf(c.Listen)
	switch {
	case !well:
		s.wrong(node, "write 127.0.0.1:8420, or off", "listen %q is not host:port", shortened(c.Listen))
	case !loopback(host) && !c.Access.Secure():
		s.wrong(node, "127.0.0.1:8420 serves this machine only; for others give access.certificate_file and access.key_file, or access.behind_proxy: true with TLS in front", "listen %s can be reached from other machines, and there is no TLS", shortened(c.Listen))
	case !loopback(host):
		s.warn(node, "127.0.0.1:8420 serves this machine only", "listen %s can be reached from other machines", shortened(c.Listen))
	}
}

// hostOf is the host of host:port.
func hostOf(address string) (host string, well bool) {
	host, port, err := net.SplitHostPort(address)
	number, numberErr := strconv.Atoi(port)
	return host, err == nil && numberErr == nil && number >= 0 && number <= 65535
}
