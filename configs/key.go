package configs

import "gopkg.in/yaml.v3"

// key is one row of the table of keys. Only this table defines keys: it reads the files, writes the effective
// configuration, and provides Keys, the source of schema and reference. To add a key, add its field and its row to
// the file of its block.
type key struct {
	name    string
	value   value                                      // of a single value or a list
	file    func(s *section, node *yaml.Node) *section // nil: no file can provide the block
	keys    []key                                      // or of a block
	members *members                                   // or of a block whose keys the user chooses

	what    string // a short description
	unit    string // of a number
	modes   string // in which it applies; all when empty
	example string // its value, or with a colon in it the whole block
	instead string // another way to set it; a credential applies only where no file is named
	live    string // the default in mode live, if it differs

	required func() string                     // nil for an optional key; otherwise returns the text to write for it
	zero     bool                              // the effective configuration shows it even when zero
	hidden   func() bool                       // nil: the effective configuration shows it always
	check    func(s *section, node *yaml.Node) // further checks of a value
	after    func(s *section)                  // checks that also apply to a missing key; s is the block, for a block
}

// members describes a block whose keys are names chosen by the user.
type members struct {
	key  // its name stands for any; empty if none can be listed
	read func(block *section)
	show func(into outline)
}

// read reads all keys of a block, and reports unknown ones.
func (s *section) read(keys []key) {
	for i := range keys {
		keys[i].read(s)
	}
	s.reportUnknown()
}

func (k *key) read(s *section) {
	if k.value.kind == "" {
		var block *section
		if node := s.single(k.name); node != nil && k.file != nil {
			s.known = append(s.known, k.name)
			block = k.file(s, node)
		} else {
			block = s.section(k.name)
		}
		if k.members != nil {
			k.members.read(block)
		} else {
			block.read(k.keys)
		}
		if k.after != nil {
			k.after(block)
		}
		return
	}
	s.known = append(s.known, k.name)
	if node := k.value.read(s, k.name); node != nil && k.check != nil {
		k.check(s, node)
	}
	if k.required != nil && s.find(k.name) == nil {
		s.fail(s.line, k.required(), "%s is missing", k.name)
	}
	if k.after != nil {
		k.after(s)
	}
}

// add adds the values of keys to the effective configuration.
func (o outline) add(keys []key) {
	for i := range keys {
		k := &keys[i]
		if k.hidden != nil && k.hidden() {
			continue
		}
		if k.value.kind == "" {
			block := newOutline()
			if k.members != nil {
				k.members.show(block)
			} else {
				block.add(k.keys)
			}
			o.put(k.name, block)
		} else if node, zero := k.value.show(); !zero || k.zero {
			o.append(k.name, node)
		}
	}
}

// list appends the description of a key, and of its nested keys.
func (k *key) list(path string, any bool, into *[]Key) {
	listed := Key{Path: path + k.name, Kind: KindBlock, Any: any, Required: k.required != nil,
		What: k.what, Unit: k.unit, Modes: k.modes, Example: k.example, Instead: k.instead, Live: k.live}
	if v := &k.value; v.kind != "" {
		listed.Kind, listed.Words, listed.Low, listed.High = v.kind, v.words, v.low, v.high
		if _, zero := v.show(); (!zero || k.zero || v.words != nil) && !listed.Required && !any {
			listed.Default = v.line()
		}
	}
	*into = append(*into, listed)
	for i := range k.keys {
		k.keys[i].list(listed.Path+".", false, into)
	}
	if k.members != nil && k.members.name != "" {
		k.members.list(listed.Path+".", true, into)
	}
}

// always returns the text to write for a key that every file must have.
func always(text string) func() string { return func() string { return text } }
