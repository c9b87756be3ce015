package endtoend

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"botd/cmd/botd/cli/connect"
	"botd/runtime/ops"
)

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// at follows keys in a document; a number is an index of a list.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			value = value.(map[string]any)[key]
		case int:
			value = value.([]any)[key]
		}
		if value == nil {
			t.Fatalf("nothing at %v of %v", step, path)
		}
	}
	return value
}

func documents(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var one map[string]any
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
}

// wantVerbs compares every botd command in a text with the real command line.
func wantVerbs(t *testing.T, arguments []string) {
	t.Helper()
	root := commands()
	command, rest, err := root.Find(arguments)
	if err != nil || command == root {
		t.Errorf("botd %v: there is no such command", arguments)
		return
	}
	if err := command.ParseFlags(rest); err != nil {
		t.Errorf("botd %v: %v", arguments, err)
	}
}

func words(list any) (all []string) {
	for _, one := range list.([]any) {
		all = append(all, fmt.Sprint(one))
	}
	return all
}

func TestContainerIsUnprivilegedAndChecksItsHealth(t *testing.T) {
	t.Parallel()
	text := deployed(t, "docker/Dockerfile")
	stages := strings.Split(text, "\nFROM ")
	final := stages[len(stages)-1]
	for _, want := range []string{"USER 65532:65532", "VOLUME /var/lib/botd", `ENTRYPOINT ["/botd"]`} {
		if !strings.Contains(final, want) {
			t.Errorf("want %s in the last stage of\n%s", want, text)
		}
	}
	if strings.Contains(final, "\nRUN ") {
		t.Error("want nothing run in the last stage: it has no shell")
	}
	for _, line := range regexp.MustCompile(`(?m)^(?:HEALTHCHECK.*)?CMD \[(.*)\]$`).FindAllStringSubmatch(final, -1) {
		var list []any
		if err := yaml.Unmarshal([]byte("["+line[1]+"]"), &list); err != nil {
			t.Fatal(err)
		}
		wantVerbs(t, slices.DeleteFunc(words(list), func(w string) bool { return w == "/botd" }))
	}
}

func TestComposeFilesExistAndPublishNoPort(t *testing.T) {
	t.Parallel()
	text := deployed(t, "compose/compose.yaml")
	compose := documents(t, text)[0]
	for name, service := range at(t, compose, "services").(map[string]any) {
		if service.(map[string]any)["ports"] != nil || at(t, service, "network_mode") != "host" {
			t.Errorf("%s: want no port published", name)
		}
		for _, volume := range words(at(t, service, "volumes")) {
			if from, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(from, ".") && from != "./botd.rules.yml" { // that one is generated
				deployedThere(t, "compose/"+from)
			}
		}
	}
	if botd := at(t, compose, "services", "botd"); at(t, botd, "ulimits", "core") != 0 || at(t, botd, "mem_limit") != "1g" {
		t.Error("botd: want no core dump, and a limit of memory")
	}
	prometheus := documents(t, deployed(t, "compose/prometheus.yml"))[0]
	if job := at(t, prometheus, "scrape_configs", 0, "job_name"); !strings.HasPrefix(job.(string), "botd") {
		t.Errorf("want a job that the rules look for, have %v", job)
	}
	config, problems, err := connect.Load(t.Context(), "../../../deploy/compose/configs", "")
	if err != nil || len(problems) > 0 {
		t.Fatalf("want its configuration well, have %v %v", problems, err)
	}
	if target := at(t, prometheus, "scrape_configs", 0, "static_configs", 0, "targets", 0); target != config.Metrics.Listen {
		t.Errorf("want the address of its metrics scraped, %s, have %v", config.Metrics.Listen, target)
	}
	if file := at(t, prometheus, "scrape_configs", 0, "authorization", "credentials_file"); file != config.Metrics.TokenFile {
		t.Errorf("want their token sent, %s, have %v", config.Metrics.TokenFile, file)
	}
}

func deployedThere(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join("../../../deploy", name)); err != nil {
		t.Error(err)
	}
}

func TestKubernetesRunsOneBotdWithoutRights(t *testing.T) {
	t.Parallel()
	all := documents(t, deployed(t, "kubernetes/botd.yaml"))
	kind := func(name string) map[string]any {
		i := slices.IndexFunc(all, func(d map[string]any) bool { return d["kind"] == name })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		return all[i]
	}
	deployment := kind("Deployment")
	if at(t, deployment, "spec", "replicas") != 1 || at(t, deployment, "spec", "strategy", "type") != "Recreate" {
		t.Error("want one replica, and never two at once")
	}
	pod := at(t, deployment, "spec", "template", "spec")
	container := at(t, pod, "containers", 0)
	if at(t, pod, "securityContext", "runAsNonRoot") != true || at(t, container, "securityContext", "readOnlyRootFilesystem") != true {
		t.Error("want a user without rights and nothing to write but the volume")
	}
	wantVerbs(t, words(at(t, container, "args")))
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		wantVerbs(t, words(at(t, container, probe, "exec", "command"))[1:])
	}
	directory := t.TempDir()
	files := at(t, kind("ConfigMap"), "data").(map[string]any)
	for _, item := range at(t, pod, "volumes", 1, "configMap", "items").([]any) {
		path := filepath.Join(directory, at(t, item, "path").(string))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(files[at(t, item, "key").(string)].(string)),
			0o600)); err != nil {
			t.Fatal(err)
		}
	}
	config, problems, err := connect.Load(t.Context(), directory, "")
	if err != nil || problems.Errors() > 0 {
		t.Fatalf("want its configuration well, have %v %v", problems, err)
	}
	if len(config.Strategies) != 1 || config.Listen != "127.0.0.1:8420" || config.Access.BehindProxy {
		t.Errorf("want loopback alone and no proxy that is not there, have %s %+v", config.Listen, config.Access)
	}
	if have := words(at(t, kind("NetworkPolicy"), "spec", "ingress")); len(have) > 0 {
		t.Errorf("want nobody let in, have %v", have)
	}
	if limit := at(t, container, "resources", "limits", "memory"); limit != "1Gi" {
		t.Errorf("want a limit of memory, have %v", limit)
	}
}

func TestTheScriptsOfAReleaseAreSound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"build.sh", "reproduce.sh", "pin.sh", "packages/build.sh", "packages/contents.sh", "packages/formula.sh",
		"packages/provenance.sh"} {
		if text, err := exec.Command("sh", "-n", filepath.Join("../../../deploy", name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if build := deployed(t, "build.sh"); !strings.Contains(build, "-trimpath") || !strings.Contains(build, "CGO_ENABLED=0") ||
		!strings.Contains(build, "-buildid=") {
		t.Errorf("want nothing of the machine in the binary:\n%s", build)
	}
}

func TestOperationsDocumentsTheActionForEveryAlert(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, want []string
	for _, heading := range regexp.MustCompile(`(?m)^### (Botd\w+)$`).FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, heading[1])
	}
	for _, alert := range ops.Alerts() {
		want = append(want, alert.Name)
	}
	slices.Sort(documented)
	slices.Sort(want)
	if !slices.Equal(documented, want) {
		t.Errorf("want a heading for each alert\n%q, have\n%q", want, documented)
	}
	for _, page := range []string{string(text), deployed(t, "compose/compose.yaml")} {
		for _, line := range regexp.MustCompile("(?m)(?:^ {4}|`)botd ([a-z].*?)(?:`|#| {3}|$)").FindAllStringSubmatch(page, -1) {
			words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(line[1]))
			if command, _, err := commands().Find(words); err != nil || !command.HasParent() {
				t.Errorf("botd %s: there is no such command", line[1])
			}
		}
	}
}
