package botarena_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The environment variable ARENA is the program that plays the matches; without it these tests are
// skipped.
func arena(t *testing.T) (program, samples string) {
	t.Helper()
	program = os.Getenv("ARENA")
	if program == "" {
		t.Skip("ARENA does not name the program arena")
	}
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	samples = folder(t)
	build := exec.Command("go", "build", "-o", samples+string(filepath.Separator), "./samples/...")
	if words, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, words)
	}
	return program, samples
}

// run runs the arena and returns the lines that it prints.
func run(t *testing.T, program string, arguments ...string) []map[string]any {
	t.Helper()
	command := exec.Command(program, arguments...)
	command.Dir = folder(t)
	var words strings.Builder
	command.Stderr = &words
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", arguments, err, out, words.String())
	}
	var lines []map[string]any
	for _, text := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %q", err, text)
		}
		lines = append(lines, line)
	}
	return lines
}

var games = map[string]int{"connect-four": 2, "othello": 2, "mahjong": 2, "big-two": 4}

// match plays this bot against others at random, and returns the games' hashes by their names.
// Nobody may commit a foul.
func match(t *testing.T, program, game, bot string, options ...string) map[string]string {
	t.Helper()
	arguments := append([]string{
		"match", game, "--bot", "me=" + bot, "--seed=same", "--move-limit=20s", "--report=json",
	}, options...)
	for seat := 1; seat < games[game]; seat++ {
		arguments = append(arguments, "--bot", string(rune('a'+seat))+"=house:random")
	}
	hashes := map[string]string{}
	for _, line := range run(t, program, arguments...) {
		if line["type"] != "game" {
			continue
		}
		if fouls, ok := line["fouls"].([]any); !ok || len(fouls) > 0 {
			t.Errorf("%v", line)
		}
		hashes[line["game_id"].(string)] = line["play_hash"].(string)
	}
	if len(hashes) == 0 {
		t.Error("no game")
	}
	return hashes
}

// at is a command of the arena in a folder, where it has all that is its own.
func at(folder, program string, arguments ...string) *exec.Cmd {
	command := exec.Command(program, arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "ARENA_STORE="+filepath.Join(folder, "store.db"),
		"ARENA_LOBBY="+filepath.Join(folder, "lobby"), "ARENA_PAGE=127.0.0.1:0")
	return command
}

// says starts a program, which ends with the test, and waits until it says what this expression is
// for. It returns what the expression's group has found.
func says(t *testing.T, command *exec.Cmd, expected string) string {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = writer, writer
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	watchdog := time.AfterFunc(4*patience, func() { command.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		command.Process.Kill()
		command.Wait()
		reader.Close()
	})
	var words strings.Builder
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		words.WriteString(lines.Text() + "\n")
		if found := regexp.MustCompile(expected).FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, reader)
			return found[1]
		}
	}
	t.Fatalf("%v never said %q:\n%s", command, expected, words.String())
	return ""
}

func TestTheSampleJoinsAnArenaAndPlays(t *testing.T) {
	program, samples := arena(t)
	own := folder(t)
	if words, err := at(own, program, "lobby", "add", "me").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, words)
	}
	address := says(t, at(own, program, "serve", "--listen=127.0.0.1:0", "--lobby=lobby.tokens",
		"--concurrency=1"), `BOT_JOIN=(http://\S+)`)
	bot := exec.Command(filepath.Join(samples, "random"))
	bot.Env = append(os.Environ(),
		"BOT_JOIN="+address, "BOT_TOKEN_FILE="+filepath.Join(own, "me.token"))
	says(t, bot, "attending at .* as (me)")
	played := at(own, program, "match", "othello", "--bot=lobby:me", "--bot=house:random", "--deals=2",
		"--move-limit=20s", "--report=json", "--no-records")
	out, err := played.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	games := strings.Count(string(out), `"type":"game"`)
	if games < 2 || strings.Count(string(out), `"fouls":[]`) != games {
		t.Errorf("%s", out)
	}
}

func TestTheSamplesPlayWithoutAFoulAndRepeatThemselves(t *testing.T) {
	program, samples := arena(t)
	random := "exec:" + filepath.Join(samples, "random")
	for game := range games {
		once := match(t, program, game, random, "--rounds=3", "--no-records")
		again := match(t, program, game, random, "--rounds=3", "--no-records", "--concurrency=4")
		if !maps.Equal(once, again) {
			t.Errorf("%s: other games", game)
		}
	}
}

// The environment variable ARENA_PYTHON is a Python that has the kit for Python. That careful plays
// the same moves in every language is tested in arena/cli/tests/arena/languages.rs.
func TestTheSamplesPlayTheSameMovesAsThoseInPython(t *testing.T) {
	python := os.Getenv("ARENA_PYTHON")
	if python == "" {
		t.Skip("ARENA_PYTHON does not name a Python with the kit")
	}
	program, samples := arena(t)
	scripts, err := filepath.Abs(filepath.Join("..", "python", "samples"))
	if err != nil {
		t.Fatal(err)
	}
	random := "exec:" + filepath.Join(samples, "random")
	other := "exec:'" + python + "' '" + filepath.Join(scripts, "random_bot.py") + "'"
	for game := range games {
		ours := match(t, program, game, random, "--rounds=2", "--no-records")
		theirs := match(t, program, game, other, "--rounds=2", "--no-records")
		if !maps.Equal(ours, theirs) {
			t.Errorf("it plays other moves of %s", game)
		}
	}
}

// It answers each question of a record anew, resumed there: with the same seed in the same way.
func TestTheSampleCanBeResumedAtAnyQuestion(t *testing.T) {
	program, samples := arena(t)
	random := "exec:" + filepath.Join(samples, "random")
	for game := range games {
		records := filepath.Join(folder(t), "records")
		match(t, program, game, random, "--rounds=1", "--records="+records)
		found, err := filepath.Glob(filepath.Join(records, "*"))
		if err != nil {
			t.Fatal(err)
		}
		asked, repeated := 0, false
		for _, record := range found {
			if !strings.Contains(filepath.Base(record), ".jsonl") {
				continue
			}
			lines := run(t, program, "replay", "rerun", record, "--seat=0", "--bot="+random,
				"--format=json", "--move-limit=20s")
			same := true
			for _, line := range lines {
				if line["type"] == "rerun_answer" {
					asked++
					same = same && line["same"] == true
					if line["foul"] != nil {
						t.Errorf("%v", line)
					}
				}
			}
			repeated = repeated || same
		}
		// In one of the games that seat was its own.
		if asked < 3 || !repeated {
			t.Errorf("%s: %d questions in %v, repeated: %v", game, asked, found, repeated)
		}
	}
}
