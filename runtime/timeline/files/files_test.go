package files

import (
	"os"
	"path/filepath"
	"testing"

	"botd/internal/failure"
	"botd/runtime/timeline"
	"botd/runtime/view"
)

func TestLogAndIncidentsAreRead(t *testing.T) {
	t.Parallel()
	directory, story := t.TempDir(), &timeline.Story{}
	if err := Read(directory, story); err != nil || len(story.Events()) != 0 {
		t.Fatalf("an empty directory: want no events, have %v, %v", story.Events(), err)
	}
	file := filepath.Join(directory, view.IncidentsFile)
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Read(directory, story); failure.CodeOf(err) != failure.Data {
		t.Errorf("broken incidents: want the code of bad data, have %v", err)
	}
}
