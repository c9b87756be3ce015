package endtoend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/cmd/botd/cli/connect"
	"botd/configs"
)

// wantStrategy expects a text to be a valid strategy.
func wantStrategy(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "strategy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := configs.LoadStrategy(path, connect.Options(t.Context(), "")); problems.Err() != nil {
		t.Errorf("want a sound strategy, have %v", problems)
	}
}

// TestASweepOnKubernetesIsOneCoordinatorAndItsWorkers compares the manifests with the API's types, the restricted
// pod security standard and the real command line.
func TestASweepOnKubernetesIsOneCoordinatorAndItsWorkers(t *testing.T) {
	t.Parallel()
	jobs := map[string]kubeJob{}
	var service kubeService
	var policy kubePolicy
	for _, o := range strictly[kubeObject](t, deployed(t, "kubernetes/sweep.yaml")) {
		switch o.Kind {
		case "Namespace":
			if o.Metadata.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
				t.Error("want the restricted pod security standard enforced")
			}
			continue
		case "Job":
			jobs[o.Metadata.Name] = spec[kubeJob](t, &o)
		case "Service":
			service = spec[kubeService](t, &o)
		case "NetworkPolicy":
			policy = spec[kubePolicy](t, &o)
		case "ConfigMap":
			wantStrategy(t, o.Data["trend.yaml"])
		case "PersistentVolumeClaim":
			spec[kubeClaim](t, &o)
		default:
			t.Errorf("what is a %s?", o.Kind)
		}
		if o.Metadata.Namespace != "sweeps" {
			t.Errorf("%s: want the namespace sweeps, where no botd trades", o.Kind)
		}
	}
	if len(jobs) != 2 || jobs["workers"].Parallelism < 2 || jobs["sweep"].Parallelism != 0 || jobs["workers"].Retries < 100 {
		t.Fatalf("want one coordinator, and workers that may fail often, have %+v", jobs)
	}
	for name, job := range jobs {
		pod := job.Template.Spec
		container := pod.Containers[0]
		wantVerbs(t, container.Args)
		if pod.Restart != "OnFailure" || pod.Token == nil || *pod.Token || !pod.Security.NonRoot || pod.Security.Seccomp.Type != "RuntimeDefault" {
			t.Errorf("%s: want a user without rights, a filter of system calls and no token of the cluster, have %+v", name, pod)
		}
		if s := container.Security; s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Can.Drop, []string{"ALL"}) {
			t.Errorf("%s: want nothing to write and no way to more rights, have %+v", name, s)
		}
		if env := container.Env; len(env) != 1 || env[0].Name != "BOTD_NATS_TOKEN" || env[0].Value != "" || env[0].From == nil {
			t.Errorf("%s: want the token from a secret, have %+v", name, env)
		}
		volumes := map[string]bool{}
		for _, v := range pod.Volumes {
			volumes[v.Name] = true
		}
		for _, m := range container.Mounts {
			if !volumes[m.Name] {
				t.Errorf("%s: there is no volume %s", name, m.Name)
			}
		}
	}
	labels := jobs["sweep"].Template.Metadata.Labels["app"]
	if service.Selector["app"] != labels || !slices.Contains(jobs["workers"].Template.Spec.Containers[0].Args, "nats://sweep:4222") ||
		!slices.Contains(jobs["sweep"].Template.Spec.Containers[0].Args, "0.0.0.0:4222") || service.Ports[0].Port != 4222 {
		t.Error("want the workers to reach the coordinator by its service")
	}
	in, out := policy.Ingress, policy.Egress
	if len(in) != 1 || in[0].From[0].Pods.Labels["app"] != jobs["workers"].Template.Metadata.Labels["app"] || len(out) != 2 ||
		out[1].To[0].Pods.Labels["app"] != labels || out[1].Ports[0].Port != 4222 {
		t.Errorf("want workers let in to the coordinator and nothing else, have %+v", policy)
	}
}

func TestContainerSweepPublishesNoPort(t *testing.T) {
	t.Parallel()
	text := deployed(t, "compose/sweep.yaml")
	compose := strictly[composeFile](t, text)[0]
	wantStrategy(t, deployed(t, "compose/sweep/trend.yaml"))
	for name, s := range compose.Services {
		wantVerbs(t, s.Command)
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) || s.Memory == "" {
			t.Errorf("%s: want no rights, no way to more, and bounds, have %+v", name, s)
		}
		if !strings.HasPrefix(s.Environment["BOTD_NATS_TOKEN"], "${BOTD_NATS_TOKEN:?") {
			t.Errorf("%s: want the token of the shell, or no start, have %v", name, s.Environment)
		}
	}
	if !slices.Contains(compose.Services["worker"].Command, "nats://coordinator:4222") || strings.Contains(text, "ports:") {
		t.Error("want the workers to reach the coordinator, and nobody else")
	}
}
