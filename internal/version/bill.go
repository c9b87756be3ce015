package version

import (
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// Bill is the bill of materials of a binary, in the form of CycloneDX 1.6. It is identical for two builds of the same source.
type Bill struct {
	Format       string           `json:"bomFormat"`
	Spec         string           `json:"specVersion"`
	Version      int              `json:"version"`
	Metadata     billMetadata     `json:"metadata"`
	Components   []BillComponent  `json:"components"`
	Dependencies []billDependency `json:"dependencies"`
}

type billMetadata struct {
	Component  BillComponent  `json:"component"`
	Properties []billProperty `json:"properties"`
}

type BillComponent struct {
	Type       string         `json:"type"`
	Ref        string         `json:"bom-ref"`
	Name       string         `json:"name"`
	Version    string         `json:"version"`
	PURL       string         `json:"purl"`
	Properties []billProperty `json:"properties,omitempty"`
}

type billProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type billDependency struct {
	Ref     string   `json:"ref"`
	Depends []string `json:"dependsOn"`
}

// component returns a module's entry. Its checksum is Go's own (go.sum), over all its files.
func component(kind string, m *debug.Module) BillComponent {
	if m.Replace != nil {
		m = m.Replace
	}
	parts := strings.Split(m.Path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	purl := "pkg:golang/" + strings.Join(parts, "/") + "@" + url.PathEscape(m.Version)
	c := BillComponent{Type: kind, Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
	if m.Sum != "" {
		c.Properties = []billProperty{{"go:sum", m.Sum}}
	}
	return c
}

// newBill lists every module of a build, and Go's standard library.
func newBill(build *debug.BuildInfo) *Bill {
	if build.Main.Path == "" {
		build.Main.Path = "botd"
	}
	main := component("application", &build.Main)
	b := &Bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: billMetadata{Component: main}}
	for _, setting := range build.Settings {
		b.Metadata.Properties = append(b.Metadata.Properties, billProperty{"go:build:" + setting.Key, setting.Value})
	}
	b.Components = append(b.Components, component("library", &debug.Module{Path: "std", Version: strings.TrimPrefix(build.GoVersion, "go")}))
	for _, m := range build.Deps {
		b.Components = append(b.Components, component("library", m))
	}
	all := billDependency{Ref: main.Ref}
	for _, c := range b.Components {
		all.Depends = append(all.Depends, c.Ref)
	}
	slices.Sort(all.Depends)
	b.Dependencies = []billDependency{all}
	return b
}

// ReadBill returns the bill of materials of the running binary.
func ReadBill() (*Bill, error) {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, fmt.Errorf("the binary has no build information")
	}
	return newBill(build), nil
}
