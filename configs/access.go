package configs

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// AccessConfig is how dashboard and API are reached from other machines.
type AccessConfig struct {
	CertificateFile, KeyFile string   // of TLS
	BehindProxy              bool     // a proxy with TLS stands in front
	Hosts                    []string // names that requests may be for, besides loopback ones
}

// Secure reports whether what is sent is encrypted on its way to the browser.
func (a *AccessConfig) Secure() bool { return a.CertificateFile != "" || a.BehindProxy }

var hostName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$`)

func (l *loader) access(root *section) {
	a := &l.config.Access
	s := root.section("access")
	s.text("certificate_file", &a.CertificateFile)
	s.text("key_file", &a.KeyFile)
	proxy := "false"
	s.choice("behind_proxy", &proxy, "true", "false")
	a.BehindProxy = proxy == "true"
	var hosts string
	if node := s.text("hosts", &hosts); node != nil {
		a.Hosts = strings.FieldsFunc(hosts, func(r rune) bool { return r == ',' || r == ' ' })
		for _, host := range a.Hosts {
			if !hostName.MatchString(host) {
				s.wrong(node, "write names without port or https://, with commas between: botd.example, 10.0.0.5", "access.hosts: %q is no name of a host", shortened(host))
			}
		}
	}
	s.done()
	if (a.CertificateFile == "") != (a.KeyFile == "") {
		s.fail(root.lineOf("access"), "give both, or neither", "access has one of certificate_file and key_file alone")
	}
}

func (a *AccessConfig) outline() outline {
	o := newOutline()
	o.set("certificate_file", a.CertificateFile)
	o.set("key_file", a.KeyFile)
	if a.BehindProxy {
		o.set("behind_proxy", "true")
	}
	o.set("hosts", strings.Join(a.Hosts, ", "))
	return o
}

// noteLines remembers on which line of a file each value stands.
func noteLines(path string, node *yaml.Node, into map[string]int) {
	if node.Kind != yaml.MappingNode {
		into[path] = node.Line
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		if path != "" {
			name = path + "." + name
		}
		noteLines(name, node.Content[i+1], into)
	}
}
