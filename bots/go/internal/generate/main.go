// Command generate writes the Go code of the .proto files into a folder; `go generate` runs it.
//
// The plugins have the versions that go.mod names. The version of protoc is removed from the
// code, so that the same code comes of every protoc.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// files are the .proto files that a bot needs, from the folder proto/ of the repository.
var files = []string{
	"arena/v1/envelope.proto",
	"arena/v1/lobby.proto",
	"games/connect_four/v1/connect_four.proto",
	"games/mahjong/v1/mahjong.proto",
	"games/big_two/v1/big_two.proto",
	"games/othello/v1/othello.proto",
}

// module is the folder of the code within the module.
const module = "botarena/proto"

var plugins = []string{
	"google.golang.org/protobuf/cmd/protoc-gen-go",
	"google.golang.org/grpc/cmd/protoc-gen-go-grpc",
}

var protocVersion = regexp.MustCompile(`(?m)^// (-\s+)?\tprotoc\s.*\n|^// - protoc\s.*\n`)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: generate PROTO OUT, the folder of the .proto files and that of the code")
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// generate writes the code of the .proto files below proto into the folder out, which is made if
// need be.
func generate(proto, out string) error {
	tools, err := os.MkdirTemp("", "botarena-generate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tools)
	for _, plugin := range plugins {
		if err := run("go", "build", "-o", tools+string(filepath.Separator), plugin); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var options []string
	for _, file := range files {
		folder := filepath.ToSlash(filepath.Dir(file))
		options = append(options, fmt.Sprintf("M%s=%s/%s;%s", file, module, folder, packageOf(folder)))
	}
	option := "module=" + module + "," + strings.Join(options, ",")
	arguments := []string{
		"-I", proto,
		"--plugin=" + filepath.Join(tools, "protoc-gen-go"),
		"--plugin=" + filepath.Join(tools, "protoc-gen-go-grpc"),
		"--go_out=" + out, "--go_opt=" + option,
		"--go-grpc_out=" + out, "--go-grpc_opt=" + option,
	}
	if err := run("protoc", append(arguments, files...)...); err != nil {
		return err
	}
	return eachCode(out, func(path string, code []byte) error {
		return os.WriteFile(path, protocVersion.ReplaceAll(code, nil), 0o666)
	})
}

// packageOf is the name of the Go package of a folder: connectfourv1 for games/connect_four/v1.
func packageOf(folder string) string {
	parts := strings.Split(folder, "/")
	return strings.ReplaceAll(strings.Join(parts[len(parts)-2:], ""), "_", "")
}

// eachCode calls do with every file of generated code below a folder.
func eachCode(folder string, do func(path string, code []byte) error) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".pb.go") {
			return err
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return do(path, code)
	})
}

func run(name string, arguments ...string) error {
	var words bytes.Buffer
	command := exec.Command(name, arguments...)
	command.Stdout, command.Stderr = &words, &words
	err := command.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed (Debian: protobuf-compiler): %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("%s failed: %w\n%s", name, err, words.String())
	}
	return nil
}
