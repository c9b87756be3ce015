package connect

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTheConfigurationIsFoundFromAnotherDirectory runs in a directory without ./configs, as a person who was
// woken up does.
func TestTheConfigurationIsFoundFromAnotherDirectory(t *testing.T) {
	service := t.TempDir()
	if err := os.WriteFile(filepath.Join(service, "botd.yaml"), []byte("mode: demo\ninstance: night\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv(ConfigVariable, service)
	config, problems, err := Load(t.Context(), "", "")
	if err != nil || problems.Err() != nil || config.Instance != "night" {
		t.Fatalf("want the service's configuration, have %+v, %v, %v", config, problems, err)
	}
	if err := os.MkdirAll("configs", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("configs", "botd.yaml"), []byte("mode: demo\ninstance: here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if config, _, err := Load(t.Context(), "", ""); err != nil || config.Instance != "here" {
		t.Errorf("want ./configs first, have %+v, %v", config, err)
	}
}
