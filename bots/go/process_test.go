package botarena_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"botarena"
	connectfourv1 "botarena/proto/games/connect_four/v1"
)

// asBot makes the test's own program a bot.
const asBot = "BOT_ARENA_TEST_BOT"

func TestMain(m *testing.M) {
	if os.Getenv(asBot) != "" {
		bot := playing(getPoint(
			func(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
				if os.Getenv(asBot) == "fails" {
					return botarena.Point{}, botarena.Errorf("no idea")
				}
				if ask.Last != nil {
					fmt.Println("thinking for ever")
					select {}
				}
				return ask.Points()[0], nil
			}))
		bot.MaxGames = 4
		if os.Getenv(asBot) == "limits" {
			defer func() {
				fmt.Println(runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1))
			}()
		}
		bot.Main()
		fmt.Println("the end")
		return
	}
	os.Exit(m.Run())
}

// process is a bot in a process.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *strings.Builder
}

// begin starts one that is to listen there.
func begin(t *testing.T, listen, how string, environment ...string) process {
	t.Helper()
	p := process{t, exec.Command(os.Args[0]), nil, new(strings.Builder)}
	p.cmd.Env = append(os.Environ(), "BOT_LISTEN="+listen, asBot+"="+how)
	p.cmd.Env = append(p.cmd.Env, environment...)
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(stdout)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	t.Cleanup(func() {
		watchdog.Stop()
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	return p
}

// expect reads a line.
func (p process) expect(expected string) {
	p.t.Helper()
	if line := p.line(); line != expected {
		p.t.Fatalf("%q: expected %q\n%s", line, expected, p.stderr)
	}
}

func (p process) line() string {
	line, _ := p.stdout.ReadString('\n')
	return strings.TrimSuffix(line, "\n")
}

func (p process) signal(signal os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
}

// end waits until it has ended in order, and says how long that took.
func (p process) end() time.Duration {
	p.t.Helper()
	began := time.Now()
	p.expect("the end")
	if err := p.cmd.Wait(); err != nil || p.stderr.Len() > 0 {
		p.t.Errorf("%v, %q", err, p.stderr)
	}
	return time.Since(began)
}

func TestItListensOnASocketAndRemovesAStaleOne(t *testing.T) {
	for _, prefix := range []string{"unix:", "unix://"} {
		path := filepath.Join(folder(t), "a b%41.sock")
		stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		stale.SetUnlinkOnClose(false)
		stale.Close()
		p := begin(t, prefix+path, "plays")
		p.expect("listening on unix:" + path)
		probe, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		probe.Close()
		p.signal(syscall.SIGTERM)
		p.end()
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket is still there")
		}
	}
}

// refuses expects that a bot can't listen there, and returns what it says.
func refuses(t *testing.T, listen string) string {
	t.Helper()
	return begin(t, listen, "plays").fails()
}

// fails expects that the bot ends with exit code 1, and returns what it says.
func (p process) fails() string {
	p.t.Helper()
	p.expect("")
	err := p.cmd.Wait()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		p.t.Errorf("%v: expected exit code 1", err)
	}
	return p.stderr.String()
}

func TestWhatIsNoStaleSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(folder(t), "precious")
	if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	expected := "could not listen on unix:" + path + ": address already in use\n"
	if words := refuses(t, "unix:"+path); words != expected {
		t.Error(words)
	}
	if text, err := os.ReadFile(path); string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	// Nor is the socket of a bot that lives.
	live := filepath.Join(folder(t), "bot.sock")
	p := begin(t, "unix:"+live, "plays")
	p.expect("listening on unix:" + live)
	if words := refuses(t, "unix:"+live); !strings.HasSuffix(words, ": address already in use\n") {
		t.Error(words)
	}
	started(t, dial(t, "unix:"+live))
}

func TestItSaysWhichPortItHasChosen(t *testing.T) {
	p := begin(t, "tcp:127.0.0.1:0", "plays")
	line := p.line()
	found := regexp.MustCompile(`^listening on tcp:(127\.0\.0\.1:[1-9][0-9]*)$`).FindStringSubmatch(line)
	if found == nil {
		t.Fatal(line)
	}
	started(t, dial(t, found[1]))
	expected := "could not listen on tcp:" + found[1] + ": address already in use\n"
	if words := refuses(t, "tcp:"+found[1]); words != expected {
		t.Error(words)
	}
}

func TestAWrongAddressIsExitCode1AndALine(t *testing.T) {
	expected := "BOT_LISTEN is \"localhost\": expected unix:PATH or tcp:HOST:PORT\n"
	if words := refuses(t, "localhost"); words != expected {
		t.Error(words)
	}
}

func TestAnIdleBotEndsAtOnceWhoeverWatchesIt(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		path := filepath.Join(folder(t), "bot.sock")
		p := begin(t, "unix:"+path, "plays")
		p.expect("listening on unix:" + path)
		conn := dial(t, "unix:"+path)
		watch(t, conn, healthv1.HealthCheckResponse_SERVING)
		// A game that is over does not keep it either.
		s := started(t, conn)
		s.send(overCall("four in a row"))
		s.close()
		p.signal(signal)
		if took := p.end(); took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
	}
}

func TestAGameGoesOnAfterSigtermAndNoneBegins(t *testing.T) {
	path := filepath.Join(folder(t), "bot.sock")
	p := begin(t, "unix:"+path, "plays")
	p.expect("listening on unix:" + path)
	conn := dial(t, "unix:"+path)
	next := watch(t, conn, healthv1.HealthCheckResponse_SERVING)
	s := started(t, conn)
	second := dial(t, "unix:"+path)
	started(t, second).close()
	p.signal(syscall.SIGTERM)
	next(healthv1.HealthCheckResponse_NOT_SERVING)
	if refused, err := connectfourv1.NewConnectFourBotClient(second).Play(t.Context()); err == nil {
		stream[call, answer]{t, refused, nil}.refused(codes.Unavailable)
	} else if status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	if s.ask(pointCall(1)).GetNumber() != 1 {
		t.Error("no answer")
	}
	s.send(overCall("four in a row"))
	s.close()
	if took := p.end(); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAGameThatGoesOnForEverIsCutOffAfter5Seconds(t *testing.T) {
	path := filepath.Join(folder(t), "bot.sock")
	p := begin(t, "unix:"+path, "plays")
	p.expect("listening on unix:" + path)
	s := started(t, dial(t, "unix:"+path))
	question := pointCall(1)
	question.GetGetPoint().LastX, question.GetGetPoint().LastY = 3, 3
	s.send(question)
	p.expect("thinking for ever")
	p.signal(syscall.SIGTERM)
	if took := p.end(); took < 4*time.Second || took > 7*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestASecondSignalEndsItAtOnce(t *testing.T) {
	path := filepath.Join(folder(t), "bot.sock")
	p := begin(t, "unix:"+path, "plays")
	p.expect("listening on unix:" + path)
	conn := dial(t, "unix:"+path)
	next := watch(t, conn, healthv1.HealthCheckResponse_SERVING)
	started(t, conn)
	p.signal(os.Interrupt)
	next(healthv1.HealthCheckResponse_NOT_SERVING)
	began := time.Now()
	p.signal(os.Interrupt)
	p.cmd.Wait()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestTheRuntimeIsToldItsLimits(t *testing.T) {
	for _, each := range []struct{ environment, expected string }{
		{"BOT_MEMORY_LIMIT=1073741824", "1 805306368"},
		{"GOMEMLIMIT=1MiB", "1 1048576"},
	} {
		path := filepath.Join(folder(t), "bot.sock")
		p := begin(t, "unix:"+path, "limits", each.environment, "GOMAXPROCS=1")
		p.expect("listening on unix:" + path)
		p.signal(syscall.SIGTERM)
		p.expect("the end")
		p.expect(each.expected)
	}
}
