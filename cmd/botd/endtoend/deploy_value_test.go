package endtoend

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"botd/cmd/botd/cli/connect"
	"botd/runtime/ops"
)

// deployedPod returns the pod of the example for Kubernetes.
func deployedPod(t *testing.T, manifest string) (kubePod, map[string]string) {
	t.Helper()
	var pod kubePod
	var files map[string]string
	for _, o := range strictly[kubeObject](t, manifest) {
		switch o.Kind {
		case "Deployment":
			pod = spec[kubeSpec](t, &o).Template.Spec
		case "ConfigMap":
			files = o.Data
		}
	}
	if len(pod.Containers) != 1 || files["botd.yaml"] == "" {
		t.Fatalf("want one container and its configuration, have %+v", pod)
	}
	return pod, files
}

// documentedBound returns the number after some words of docs/operations.md.
func documentedBound(t *testing.T, words string) int {
	t.Helper()
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(words + ` ([0-9]+)`).FindStringSubmatch(strings.Join(strings.Fields(string(text)), " "))
	if found == nil {
		t.Fatalf("docs/operations.md does not say %q", words)
	}
	number, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// gibibytes parses a quantity of memory as systemd, Compose and Kubernetes write it.
func gibibytes(t *testing.T, text string) int {
	t.Helper()
	found := regexp.MustCompile(`^([0-9]+)(?:G|g|Gi)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("want a number of gibibytes, have %q", text)
	}
	number, _ := strconv.Atoi(found[1])
	return number
}

func TestDeploymentsHaveTheDocumentedBounds(t *testing.T) {
	t.Parallel()
	memory, stop, processes := documentedBound(t, "limit memory to"), documentedBound(t, "the time to stop to"), documentedBound(t, "limit processes to")
	unit := ops.UnitFile(ops.Unit{Binary: "/usr/bin/botd", Config: "/etc/botd", Mode: "demo", Watchdog: 120, StopAfter: stop})
	setting := func(name string) string {
		found := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
		if found == nil {
			t.Fatalf("the unit has no %s", name)
		}
		return found[1]
	}
	if have := gibibytes(t, setting("MemoryMax")); have != memory || setting("TasksMax") != strconv.Itoa(processes) || setting("LimitCORE") != "0" {
		t.Errorf(
			"the unit: want %d GiB, %d processes and no core dump, have %d, %s, %s",
			memory,
			processes,
			have,
			setting("TasksMax"),
			setting("LimitCORE"),
		)
	}
	botd := strictly[composeFile](t, deployed(t, "compose/compose.yaml"))[0].Services["botd"]
	core, bounded := botd.Ulimits["core"]
	if have := gibibytes(t, botd.Memory); have != memory || botd.Pids != processes || core != 0 || !bounded {
		t.Errorf("compose: want %d GiB, %d processes and no core dump, have %d, %d, %d", memory, processes, have, botd.Pids, core)
	}
	if grace, err := time.ParseDuration(botd.Grace); err != nil || grace != time.Duration(stop)*time.Second {
		t.Errorf("compose: want %d s to stop, have %s", stop, botd.Grace)
	}
	pod, _ := deployedPod(t, deployed(t, "kubernetes/botd.yaml"))
	resources := pod.Containers[0].Resources
	if have := gibibytes(t, resources.Limits["memory"]); have != memory || pod.Grace != stop {
		t.Errorf("kubernetes: want %d GiB and %d s to stop, have %d, %d", memory, stop, have, pod.Grace)
	}
	if resources.Limits["cpu"] != "" || resources.Requests["memory"] == "" || resources.Requests["cpu"] == "" {
		t.Errorf("kubernetes: want a share reserved and no bound that delays exits, have %+v", resources)
	}
}

func wantLoopback(t *testing.T, what, address string) {
	t.Helper()
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		t.Errorf("%s: want loopback, have %q", what, address)
	}
}

// TestComposeListensOnLoopbackAlone checks every address, since the containers share the machine's network.
func TestComposeListensOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	text := deployed(t, "compose/compose.yaml")
	compose := strictly[composeFile](t, text)[0]
	config, problems, err := connect.Load(t.Context(), "../../../deploy/compose/configs", "")
	if err != nil || len(problems) > 0 {
		t.Fatalf("want its configuration well, have %v %v", problems, err)
	}
	wantLoopback(t, "botd", config.Listen)
	wantLoopback(t, "botd's metrics", config.Metrics.Listen)
	if config.Access.BehindProxy || config.Access.MetricsOpen || config.Metrics.TokenFile == "" {
		t.Errorf("want metrics for a token alone and no proxy that is not there, have %+v %+v", config.Access, config.Metrics)
	}
	prometheus := ""
	for _, argument := range compose.Services["prometheus"].Command {
		if address, found := strings.CutPrefix(argument, "--web.listen-address="); found {
			prometheus = address
		}
	}
	grafana := compose.Services["grafana"].Environment
	wantLoopback(t, "prometheus", prometheus)
	wantLoopback(t, "grafana", net.JoinHostPort(grafana["GF_SERVER_HTTP_ADDR"], grafana["GF_SERVER_HTTP_PORT"]))
	sources := documents(t, deployed(t, "compose/grafana/datasources/prometheus.yml"))[0]
	if source := at(t, sources, "datasources", 0, "url"); source != "http://"+prometheus {
		t.Errorf("want grafana to ask prometheus at %s, have %v", prometheus, source)
	}
	_, port, _ := net.SplitHostPort(prometheus)
	port = ":" + port
	for _, output := range []string{"http://" + config.Listen + " (", "Prometheus at " + port, "Grafana at :" + grafana["GF_SERVER_HTTP_PORT"],
		"-L 8420:" + config.Listen} {
		if !strings.Contains(strings.ReplaceAll(text, "\n# ", " "), output) {
			t.Errorf("want the page to say %q", output)
		}
	}
	for name, s := range compose.Services {
		if name != "grafana" && !s.ReadOnly { // grafana unpacks plugins next to its volume
			t.Errorf("%s: want nothing to write but its volume", name)
		}
		for _, volume := range s.Volumes {
			if strings.HasPrefix(volume, ".") && !strings.HasSuffix(volume, ":ro") || strings.HasPrefix(volume, "/") {
				t.Errorf("%s: want files of this folder, only to be read, have %s", name, volume)
			}
		}
		for _, secret := range s.Secrets {
			if name == "botd" && "/run/secrets/"+secret.Target != config.Metrics.TokenFile {
				t.Errorf("want the token at %s, have %s", config.Metrics.TokenFile, secret.Target)
			}
		}
	}
}

// TestKubernetesOptionsAreSafe enables the commented lines: those for live and those for metrics.
func TestKubernetesOptionsAreSafe(t *testing.T) {
	t.Parallel()
	manifest := deployed(t, "kubernetes/botd.yaml")
	if have := strings.Count(manifest, "kubectl -n botd port-forward deploy/botd 8420\n"); have != 1 {
		t.Errorf("want the port of the dashboard once, have it %d times", have)
	}
	live := regexp.MustCompile(`(?m)^( *)# live: (env|-)`).ReplaceAllString(manifest, "$1$2")
	pod, files := deployedPod(t, live)
	container := pod.Containers[0]
	mount := container.Mounts[len(container.Mounts)-1]
	if len(container.Env) != 1 || container.Env[0].Value != mount.MountPath || !mount.ReadOnly {
		t.Errorf("want the keys where botd looks for them, only to be read, have %+v %+v", container.Env, mount)
	}
	if volume := pod.Volumes[len(pod.Volumes)-1]; volume.Secret == nil || volume.Name != mount.Name || volume.Secret.Mode != 0o440 {
		t.Errorf("want the keys for botd's group alone, have %+v", volume)
	}
	for _, c := range []struct {
		name, pattern string
		sound         bool
	}{{"metrics with a certificate", `# (metrics|access):`, true}, {"metrics without one", `# (metrics):`, false}} {
		text := regexp.MustCompile(c.pattern).ReplaceAllString(files["botd.yaml"], "$1:")
		directory := t.TempDir()
		for name, text := range map[string]string{"botd.yaml": text, "strategies/hold.yaml": files["hold.yaml"]} {
			path := filepath.Join(directory, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		config, problems, err := connect.Load(t.Context(), directory, "")
		if sound := err == nil && problems.Errors() == 0; sound != c.sound {
			t.Errorf("%s: want it accepted %t, have %v %v", c.name, c.sound, problems, err)
		}
		if !c.sound {
			continue
		}
		if _, port, _ := net.SplitHostPort(config.Metrics.Listen); config.Metrics.TokenFile == "" ||
			!strings.Contains(manifest, "a Service for port "+port) {
			t.Errorf("want a token, and the port that the page names, have %+v", config.Metrics)
		}
	}
}

func TestImagesArePinnedByTheDigestsOfToday(t *testing.T) {
	t.Parallel()
	directory, tools := t.TempDir(), t.TempDir()
	if err := os.CopyFS(directory, os.DirFS("../../../deploy")); err != nil {
		t.Fatal(err)
	}
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	answer := func(script string) {
		if err := os.WriteFile(filepath.Join(tools, "docker"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	pin := func() (string, error) {
		command := exec.CommandContext(t.Context(), "sh", filepath.Join(directory, "pin.sh"))
		command.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
		text, err := command.CombinedOutput()
		return string(text), err
	}
	read := func() (all []string) {
		for _, name := range []string{"docker/Dockerfile", "compose/compose.yaml", "kubernetes/botd.yaml"} {
			text, err := os.ReadFile(filepath.Join(directory, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
		return all
	}
	before := read()
	answer(`case $4 in *grafana*) echo "no such image" >&2; exit 1;; esac; echo ` + digest)
	if text, err := pin(); err == nil || !slices.Equal(read(), before) {
		t.Errorf("want nothing changed where one digest is missing, have %v %s", err, text)
	}
	answer(`[ "$1 $2 $3" = "buildx imagetools inspect" ] && echo ` + digest)
	text, err := pin()
	after := strings.Join(read(), "\n")
	images := regexp.MustCompile(`(?m)^ *(?:FROM|-? ?image:) +([^ \n]*:[^ \n]*)`).FindAllStringSubmatch(after, -1)
	if err != nil || len(images) != 4 {
		t.Fatalf("want four images, have %v, %v %s", images, err, text)
	}
	for _, image := range images {
		if !strings.HasSuffix(image[1], "@"+digest) || strings.Count(image[1], "@") != 1 {
			t.Errorf("want its digest after its tag, have %s", image[1])
		}
	}
	if !strings.Contains(after, " AS build\n") || strings.ReplaceAll(after, "@"+digest, "") != strings.Join(before, "\n") {
		t.Error("want nothing but digests added")
	}
	if text, err := pin(); err != nil || strings.Join(read(), "\n") != after {
		t.Errorf("want a second time to change nothing, have %v %s", err, text)
	}
}
