package endtoend

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The types are the parts of Kubernetes' API (core/v1, apps/v1 and networking.k8s.io/v1 of 1.31) and of the
// Compose specification that the examples use. Any other key is mistyped or misplaced.
type (
	kubeName struct {
		Name, Namespace string
		Labels          map[string]string
	}
	kubeProbe struct {
		Exec struct{ Command []string }

		PeriodSeconds    int `yaml:"periodSeconds"`
		TimeoutSeconds   int `yaml:"timeoutSeconds"`
		FailureThreshold int `yaml:"failureThreshold"`
	}
	kubeMount struct {
		Name      string
		MountPath string `yaml:"mountPath"`
		ReadOnly  bool   `yaml:"readOnly"`
	}
	kubeVolume struct {
		Name  string
		Claim *struct {
			Name string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
		ConfigMap *struct {
			Name  string
			Items []struct{ Key, Path string }
		} `yaml:"configMap"`
		Secret *struct {
			Name string `yaml:"secretName"`
			Mode int    `yaml:"defaultMode"`
		}
		EmptyDir *struct{} `yaml:"emptyDir"`
	}
	kubeVariable struct {
		Name, Value string
		From        *struct {
			Secret struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
	kubeContainer struct {
		Name, Image string
		Args        []string
		Env         []kubeVariable
		WorkingDir  string `yaml:"workingDir"`
		Security    struct {
			Escalation *bool                   `yaml:"allowPrivilegeEscalation"`
			ReadOnly   bool                    `yaml:"readOnlyRootFilesystem"`
			Can        struct{ Drop []string } `yaml:"capabilities"`
		} `yaml:"securityContext"`
		Resources      struct{ Requests, Limits map[string]string }
		StartupProbe   kubeProbe   `yaml:"startupProbe"`
		LivenessProbe  kubeProbe   `yaml:"livenessProbe"`
		ReadinessProbe kubeProbe   `yaml:"readinessProbe"`
		Mounts         []kubeMount `yaml:"volumeMounts"`
	}
	kubePod struct {
		Token    *bool `yaml:"automountServiceAccountToken"`
		Links    *bool `yaml:"enableServiceLinks"`
		Grace    int   `yaml:"terminationGracePeriodSeconds"`
		Security struct {
			NonRoot      bool                  `yaml:"runAsNonRoot"`
			User         int                   `yaml:"runAsUser"`
			Group        int                   `yaml:"runAsGroup"`
			FSGroup      int                   `yaml:"fsGroup"`
			ChangePolicy string                `yaml:"fsGroupChangePolicy"`
			Seccomp      struct{ Type string } `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		Restart    string `yaml:"restartPolicy"`
		Containers []kubeContainer
		Volumes    []kubeVolume
	}
	kubeSpec struct {
		Replicas *int
		Strategy struct{ Type string }
		Selector struct {
			Labels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata kubeName
			Spec     kubePod
		}
	}
	kubeJob struct {
		Parallelism int
		Retries     int `yaml:"backoffLimit"`
		Template    struct {
			Metadata kubeName
			Spec     kubePod
		}
	}
	kubeService struct {
		Selector map[string]string
		Ports    []struct {
			Name string
			Port int
		}
	}
	kubeClaim struct {
		Modes     []string `yaml:"accessModes"`
		Resources struct{ Requests map[string]string }
	}
	kubePeer struct {
		Namespaces *struct{} `yaml:"namespaceSelector"`
		Pods       *struct {
			Labels map[string]string `yaml:"matchLabels"`
		} `yaml:"podSelector"`
		Block *struct {
			CIDR   string
			Except []string
		} `yaml:"ipBlock"`
	}
	kubePolicy struct {
		Pods struct {
			Labels map[string]string `yaml:"matchLabels"`
		} `yaml:"podSelector"`
		Types   []string `yaml:"policyTypes"`
		Ingress []kubeRule
		Egress  []kubeRule
	}
	kubeRule struct {
		From, To []kubePeer
		Ports    []struct {
			Port     int
			Protocol string
		}
	}
	kubeObject struct {
		Version  string `yaml:"apiVersion"`
		Kind     string
		Metadata kubeName
		Data     map[string]string
		Spec     yaml.Node
	}
	composeService struct {
		Build *struct{ Context, Dockerfile string }

		Image       string
		NetworkMode string   `yaml:"network_mode"`
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
		Restart     string
		Grace       string `yaml:"stop_grace_period"`
		WorkingDir  string `yaml:"working_dir"`
		Memory      string `yaml:"mem_limit"`
		Pids        int    `yaml:"pids_limit"`
		Ulimits     map[string]int
		Command     []string
		Environment map[string]string
		Volumes     []string
		Secrets     []struct{ Source, Target string }
	}
	composeFile struct {
		Name     string
		Services map[string]composeService
		Volumes  map[string]struct{}
		Secrets  map[string]struct{ File string }
	}
)

// strictly decodes all documents of a text; an unknown key is an error.
func strictly[T any](t *testing.T, text string) (all []T) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	for {
		var one T
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

// spec decodes the specification of an object as strictly.
func spec[T any](t *testing.T, o *kubeObject) T {
	t.Helper()
	text, err := yaml.Marshal(&o.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return strictly[T](t, string(text))[0]
}

// TestKubernetesReadsEveryKeyAndAdmitsThePod compares the manifests with the API's types and the restricted
// pod security standard, which the namespace enforces.
func TestKubernetesReadsEveryKeyAndAdmitsThePod(t *testing.T) {
	t.Parallel()
	versions := map[string]string{"Namespace": "v1", "ConfigMap": "v1", "PersistentVolumeClaim": "v1", "Deployment": "apps/v1",
		"NetworkPolicy": "networking.k8s.io/v1"}
	objects := map[string]*kubeObject{}
	for _, o := range strictly[kubeObject](t, deployed(t, "kubernetes/botd.yaml")) {
		if versions[o.Kind] != o.Version || o.Kind != "Namespace" && o.Metadata.Namespace != "botd" || objects[o.Kind] != nil {
			t.Errorf("want one %s of %s in the namespace botd, have %s %+v", o.Kind, versions[o.Kind], o.Version, o.Metadata)
		}
		objects[o.Kind] = &o
	}
	if len(objects) != len(versions) {
		t.Fatalf("want %d objects, have %d", len(versions), len(objects))
	}
	if objects["Namespace"].Metadata.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Error("want the restricted pod security standard enforced")
	}
	if claim := spec[kubeClaim](t, objects["PersistentVolumeClaim"]); !slices.Equal(claim.Modes, []string{"ReadWriteOncePod"}) {
		t.Errorf("want the volume written by one pod, have %v", claim.Modes)
	}
	if policy := spec[kubePolicy](t, objects["NetworkPolicy"]); !slices.Equal(policy.Types, []string{"Ingress", "Egress"}) || len(policy.Egress) != 2 {
		t.Errorf("want both directions ruled, have %+v", policy)
	}
	deployment := spec[kubeSpec](t, objects["Deployment"])
	pod := deployment.Template.Spec
	if pod.Token == nil || *pod.Token || !pod.Security.NonRoot || pod.Security.User < 1000 || pod.Security.Seccomp.Type != "RuntimeDefault" {
		t.Errorf("want a user without rights, a filter of system calls and no token of the cluster, have %+v", pod.Security)
	}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
		if (v.Claim == nil) == (v.ConfigMap == nil) {
			t.Errorf("%s: want a claim or a ConfigMap, nothing of the machine's", v.Name)
		}
	}
	for _, c := range pod.Containers {
		if s := c.Security; s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Can.Drop, []string{"ALL"}) {
			t.Errorf("%s: want nothing to write and no way to more rights, have %+v", c.Name, s)
		}
		for _, m := range c.Mounts {
			if !volumes[m.Name] || m.Name == "config" && !m.ReadOnly {
				t.Errorf("%s: want a volume that there is, the configuration only to be read, have %+v", c.Name, m)
			}
		}
		if strings.HasSuffix(c.Image, ":latest") {
			t.Errorf("%s: want no image that changes by itself, have %s", c.Name, c.Image)
		}
	}
	if labels := deployment.Selector.Labels; len(labels) == 0 || deployment.Template.Metadata.Labels["app"] != labels["app"] {
		t.Errorf("want the deployment to select its own pods, have %v", labels)
	}
}

func TestComposeHasKnownKeysAndContainersWithoutRights(t *testing.T) {
	t.Parallel()
	compose := strictly[composeFile](t, deployed(t, "compose/compose.yaml"))[0]
	for name, s := range compose.Services {
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}) {
			t.Errorf("%s: want no rights and no way to more, have %v %v", name, s.CapDrop, s.SecurityOpt)
		}
		if s.Build == nil && !regexp.MustCompile(`:v?[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(s.Image) {
			t.Errorf("%s: want an image of one version, have %s", name, s.Image)
		}
		for _, secret := range s.Secrets {
			if compose.Secrets[secret.Source].File == "" {
				t.Errorf("%s: want a file for the secret %s", name, secret.Source)
			}
		}
	}
	if botd := compose.Services["botd"]; !botd.ReadOnly || botd.Pids == 0 || botd.Memory == "" {
		t.Errorf("botd: want nothing to write but the volume, and bounds, have %+v", botd)
	}
}

func TestDockerfileIsPinnedAndContainsNoSecret(t *testing.T) {
	t.Parallel()
	user, health := "", false
	for number, line := range strings.Split(deployed(t, "docker/Dockerfile"), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "FROM":
			image := strings.Fields(rest)[0]
			if _, tag, tagged := strings.Cut(image, ":"); !tagged || tag == "latest" {
				t.Errorf("line %d: want an image of one version, have %s", number+1, image)
			}
			user, health = "", false
		case "USER":
			user = rest
		case "HEALTHCHECK":
			health = true
		case "ADD", "ENV", "ARG", "EXPOSE":
			t.Errorf("line %d: want nothing fetched, no secret in the image and no port, have %s", number+1, line)
		}
	}
	if !regexp.MustCompile(`^[1-9][0-9]{3,}:[1-9][0-9]{3,}$`).MatchString(user) || !health {
		t.Errorf("want a numeric user without rights and a health check in the last stage, have %q, %t", user, health)
	}
}
