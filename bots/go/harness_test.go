package botarena_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"botarena"
	arenav1 "botarena/proto/arena/v1"
	connectfourv1 "botarena/proto/games/connect_four/v1"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// stream is the referee's side of one game: C is a call, A an answer.
type stream[C, A any] struct {
	t *testing.T
	grpc.BidiStreamingClient[C, A]
	cancel context.CancelFunc
}

type (
	call   = connectfourv1.ConnectFourCall
	answer = connectfourv1.ConnectFourAnswer
)

// open opens a stream of any game by its client's Play.
func open[C, A any](
	t *testing.T,
	play func(context.Context, ...grpc.CallOption) (grpc.BidiStreamingClient[C, A], error),
) stream[C, A] {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	opened, err := play(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return stream[C, A]{t, opened, cancel}
}

// send sends a call.
func (s stream[C, A]) send(call *C) {
	s.t.Helper()
	if err := s.Send(call); err != nil {
		s.t.Fatal(err)
	}
}

// answer receives the next answer.
func (s stream[C, A]) answer() *A {
	s.t.Helper()
	answer, err := s.Recv()
	if err != nil {
		s.t.Fatal(err)
	}
	return answer
}

// ask sends a question and receives its answer.
func (s stream[C, A]) ask(call *C) *A {
	s.t.Helper()
	s.send(call)
	return s.answer()
}

// close ends the referee's side; the bot must end its own without another word.
func (s stream[C, A]) close() {
	s.t.Helper()
	if err := s.CloseSend(); err != nil {
		s.t.Fatal(err)
	}
	if answer, err := s.Recv(); err != io.EOF {
		s.t.Fatalf("%v, %v: expected the end of the stream", answer, err)
	}
}

// refused expects that the bot ends the stream with an error, and returns its words.
func (s stream[C, A]) refused(code codes.Code) string {
	s.t.Helper()
	answer, err := s.Recv()
	if err == nil {
		s.t.Fatalf("it answered %v", answer)
	}
	if status.Code(err) != code {
		s.t.Fatalf("%v: expected %v", err, code)
	}
	return status.Convert(err).Message()
}

// connectFour opens a stream of Connect Four and does not send anything.
func connectFour(t *testing.T, to *grpc.ClientConn) stream[call, answer] {
	t.Helper()
	return open(t, connectfourv1.NewConnectFourBotClient(to).Play)
}

// started opens a stream of Connect Four whose question 0 has been answered.
func started(t *testing.T, to *grpc.ClientConn) stream[call, answer] {
	t.Helper()
	s := connectFour(t, to)
	if s.ask(startCall("g1")).GetReady() == nil {
		t.Fatal("the first answer is not Ready")
	}
	return s
}

func number(n uint32) *uint32 { return &n }

func startCall(id string) *call {
	start := &arenav1.GameStart{GameId: id, Game: "connect_four", Seats: 2}
	return &call{Number: number(0), Call: &connectfourv1.ConnectFourCall_Start{Start: start}}
}

func overCall(reason string) *call {
	over := &arenav1.GameOver{Ending: arenav1.Ending_ENDING_PLAYED, Reason: reason}
	return &call{Call: &connectfourv1.ConnectFourCall_Over{Over: over}}
}

// pointCall asks for a point on an empty board of 4 rows and 5 columns.
func pointCall(n uint32) *call {
	return &call{
		Number: number(n),
		Limit:  durationpb.New(3 * time.Second),
		Call: &connectfourv1.ConnectFourCall_GetPoint{GetPoint: &connectfourv1.GetPoint{
			M: 4, N: 5, Top: bytes.Repeat([]byte{4}, 5), Board: make([]byte, 20),
			LastX: -1, LastY: -1, NoX: -1, NoY: -1,
		}},
	}
}

// folder is a new folder with a short name: the path of a socket may have 107 bytes only.
func folder(t *testing.T) string {
	t.Helper()
	made, err := os.MkdirTemp("", "bot")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(made) })
	return made
}

// dial connects to a bot.
func dial(t *testing.T, target string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// serve serves a bot until the test ends, or the function that it returns is called.
func serve(t *testing.T, bot botarena.Bot) (*grpc.ClientConn, context.CancelFunc) {
	t.Helper()
	if bot.Logger == nil {
		bot.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	address := "unix:" + filepath.Join(folder(t), "bot.sock")
	listening := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- bot.Serve(ctx, address, func(address string) { listening <- address })
	}()
	select {
	case <-listening:
	case err := <-ended:
		t.Fatal(err)
	}
	conn := dial(t, address)
	t.Cleanup(func() {
		conn.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return conn, stop
}

// playing is a bot that plays Connect Four with this object.
func playing(object botarena.ConnectFourBot) botarena.Bot {
	return botarena.Bot{
		Name: "test", Version: "1",
		ConnectFour: func(context.Context, botarena.GameStart) (botarena.ConnectFourBot, error) {
			return object, nil
		},
	}
}

// getPoint is a bot of one function.
type getPoint func(context.Context, botarena.GetPoint) (botarena.Point, error)

func (f getPoint) GetPoint(ctx context.Context, ask botarena.GetPoint) (botarena.Point, error) {
	return f(ctx, ask)
}

// leftmost plays the leftmost column that has room.
var leftmost = getPoint(func(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
	return ask.Points()[0], nil
})

// log is what a bot has logged.
type log struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (l *log) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(text)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// await receives what must come.
func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatal("it never came")
		panic("unreachable")
	}
}

// watch watches a bot's health, and returns what expects the next status.
func watch(
	t *testing.T, conn *grpc.ClientConn, first healthv1.HealthCheckResponse_ServingStatus,
) func(healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	watched, err := healthv1.NewHealthClient(conn).Watch(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	next := func(expected healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		if got, err := watched.Recv(); got.GetStatus() != expected {
			t.Fatalf("%v, %v: expected %v", got, err, expected)
		}
	}
	next(first)
	return next
}
