package endtoend

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

	"gopkg.in/yaml.v3"
)

// rendered returns the chart with modified values. helm renders it if it is installed; otherwise the templates are executed with the
// only helm function that they use.
func rendered(t *testing.T, change func(values map[string]any)) []map[string]any {
	t.Helper()
	var values map[string]any
	if err := yaml.Unmarshal([]byte(deployed(t, "helm/botd/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	change(values)
	if helm, err := exec.LookPath("helm"); err == nil {
		file := filepath.Join(t.TempDir(), "values.yaml")
		text, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, string(text))
		command := exec.Command(helm, "template", "botd", "../../../deploy/helm/botd", "-n", "botd", "-f", file)
		if text, err = command.Output(); err != nil {
			t.Fatalf("helm template: %v", err)
		}
		return documents(t, string(text))
	}
	indent := func(n int, text string) string {
		return strings.Repeat(" ", n) + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", n))
	}
	parsed, err := template.New("botd").Funcs(template.FuncMap{"indent": indent}).Parse(deployed(t, "helm/botd/templates/botd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	release := map[string]any{"Name": "botd", "Namespace": "botd"}
	if err := parsed.Execute(&out, map[string]any{"Values": values, "Release": release}); err != nil {
		t.Fatal(err)
	}
	return documents(t, out.String())
}

// With default values the chart is deploy/kubernetes/botd.yaml, whose safety other tests check. With the keys of live trading it
// requests live twice and mounts them.
func TestTheChartMakesTheManifest(t *testing.T) {
	t.Parallel()
	made := rendered(t, func(map[string]any) {})
	for _, want := range documents(t, deployed(t, "kubernetes/botd.yaml")) {
		kind := want["kind"].(string)
		if kind == "Namespace" {
			continue // helm install --create-namespace
		}
		i := slices.IndexFunc(made, func(d map[string]any) bool { return d["kind"] == kind })
		if i < 0 {
			t.Errorf("the chart has no %s", kind)
			continue
		}
		if files, is := want["data"].(map[string]any); is { // the manifest has comments in its text
			for name := range files {
				if _, found := at(t, made[i], "data").(map[string]any)[name]; !found {
					t.Errorf("the chart's configuration lacks %s", name)
				}
			}
			continue
		}
		if !reflect.DeepEqual(want, made[i]) {
			t.Errorf("%s: want %v, have %v", kind, want, made[i])
		}
	}
	made = rendered(t, func(values map[string]any) { values["mode"], values["secret"] = "live", "keys" })
	i := slices.IndexFunc(made, func(d map[string]any) bool { return d["kind"] == "Deployment" })
	pod := at(t, made[i], "spec", "template", "spec")
	if args := words(at(t, pod, "containers", 0, "args")); !slices.Equal(args[len(args)-2:], []string{"--mode", "live"}) {
		t.Errorf("want live asked for, have %v", args)
	}
	if at(t, pod, "volumes", 2, "secret", "secretName") != "keys" || at(t, pod, "containers", 0, "env", 0, "value") != "/run/botd" ||
		at(t, pod, "containers", 0, "volumeMounts", 2, "mountPath") != "/run/botd" {
		t.Errorf("want the keys mounted where botd reads them, have %v", pod)
	}
}

// The flags are the same, and the files are at the same places of deb and rpm.
func TestGoReleaserEqualsScript(t *testing.T) {
	t.Parallel()
	read := func(path string) (out map[string]any) {
		text, err := os.ReadFile(filepath.Join("../../..", path))
		if err == nil {
			err = yaml.Unmarshal(text, &out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	script, releaser := read("deploy/packages/nfpm.yaml"), read("deploy/goreleaser.yaml")
	places := func(contents any) (all []string) {
		for _, one := range contents.([]any) {
			entry := one.(map[string]any)
			delete(entry, "expand")
			source := strings.NewReplacer("${OUT}/", "", "build/contents/", "").Replace(entry["src"].(string))
			if source == "botd" {
				continue // goreleaser installs its builds to bindir
			}
			entry["src"] = source
			text, err := json.Marshal(entry)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
		slices.Sort(all)
		return all
	}
	packages := at(t, releaser, "nfpms", 0)
	if have, want := places(at(t, packages, "contents")), places(script["contents"]); !slices.Equal(have, want) {
		t.Errorf("want the files of nfpm.yaml:\n%s\nhave\n%s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
	for _, key := range []string{"section", "maintainer", "description", "license"} {
		if at(t, packages, key) != script[key] {
			t.Errorf("%s: want %v, have %v", key, script[key], at(t, packages, key))
		}
	}
	if !reflect.DeepEqual(at(t, packages, "scripts"), script["scripts"]) || at(t, packages, "bindir") != "/usr/bin" {
		t.Error("want the same scripts, and the program in /usr/bin")
	}
	build, script2 := at(t, releaser, "builds", 0), deployed(t, "build.sh")
	for _, word := range slices.Concat(words(at(t, build, "flags")), words(at(t, build, "ldflags"))) {
		if !strings.Contains(script2, word) {
			t.Errorf("build.sh has not %q: the bytes would differ", word)
		}
	}
}

// The formula and the provenance contain their checksums.
func TestFormulaAndProvenanceNameTheFilesOfARelease(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	sums := map[string]string{}
	text := ""
	for i, name := range []string{"botd-1.2.3-darwin-arm64.tar.gz", "botd-1.2.3-linux-amd64.tar.gz", "botd-1.2.3-linux-arm64.tar.gz", "botd_1.2.3_amd64.deb"} {
		sums[name] = strings.Repeat(string(rune('a'+i)), 64)
		text += sums[name] + "  " + name + "\n"
	}
	write(t, filepath.Join(out, "SHA256SUMS"), text)
	run := func(arguments ...string) error {
		command := exec.Command("sh", arguments...)
		command.Dir = "../../.."
		text, err := command.CombinedOutput()
		if err != nil {
			t.Logf("%v: %s", arguments, text)
		}
		return err
	}
	if err := run("deploy/packages/formula.sh", "v1.2.3", out, "https://downloads.example/v1.2.3"); err != nil {
		t.Fatal(err)
	}
	formula, err := os.ReadFile(filepath.Join(out, "botd.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for name, sum := range sums {
		want := "      url \"https://downloads.example/v1.2.3/" + name + "\"\n      sha256 \"" + sum + "\"\n"
		if strings.HasSuffix(name, ".tar.gz") != strings.Contains(string(formula), want) {
			t.Errorf("%s: want every archive, and nothing else, with its sum in\n%s", name, formula)
		}
	}
	if err := run("deploy/packages/formula.sh", "v9.9.9", out, "https://downloads.example"); err == nil {
		t.Error("want no formula of archives that were not made")
	}
	if err := run("deploy/packages/provenance.sh", "v1.2.3", out); err != nil {
		t.Skip("this is no repository: its revision is not known")
	}
	content, err := os.ReadFile(filepath.Join(out, "botd-1.2.3.intoto.json"))
	if err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct{ BuildDefinition, RunDetails map[string]any }
	}
	if err := json.Unmarshal(content, &statement); err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	have := map[string]string{}
	for _, subject := range statement.Subject {
		have[subject.Name] = subject.Digest["sha256"]
	}
	revision := at(t, statement.Predicate.BuildDefinition, "resolvedDependencies", 0, "digest", "gitCommit")
	if !maps.Equal(have, sums) || statement.Type != "https://in-toto.io/Statement/v1" || len(revision.(string)) != 40 {
		t.Errorf("want the sums of every file and the revision, have %s", content)
	}
}
