package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheCommittedCodeIsThatOfTheProtoFiles(t *testing.T) {
	if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("protoc is not installed")
	}
	if _, err := os.Stat("../../../../proto"); err != nil {
		t.Skip("the folder proto/ of the repository is not here")
	}
	fresh := t.TempDir()
	if err := generate("../../../../proto", fresh); err != nil {
		t.Fatal(err)
	}
	committed := filepath.Join("..", "..", "proto")
	compare(t, fresh, committed)
	compare(t, committed, fresh)
}

// compare finds each file of one folder in the other.
func compare(t *testing.T, from, to string) {
	t.Helper()
	found := 0
	err := eachCode(from, func(path string, code []byte) error {
		found++
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		other, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !bytes.Equal(code, other) {
			t.Errorf("%s is not current: run `go generate` in bots/go", name)
		}
		return nil
	})
	if err != nil || found != 2*len(files)-1 {
		t.Errorf("%d files in %s: expected %d (%v)", found, from, 2*len(files)-1, err)
	}
}
