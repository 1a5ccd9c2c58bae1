package botarena_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	arenav1 "botarena/proto/arena/v1"
)

var (
	botsKey   = []byte("0123456789abcdef")
	botsToken = "arena_" + strings.Repeat("5", 64)
)

// silence is told where no ping is to follow.
var silence = errors.New("no further ping")

// side is the arena's side of a stream: F is what the bot sends, T what it is told.
type side[F, T any] struct {
	t             *testing.T
	authorization []string
	// heard is closed where the bot ends its side, and not where it drops the stream.
	heard chan *F
	// tell has messages, silence, or the error that ends the stream.
	tell chan any
}

// conduct tells the bot what the test wants it to. The ping is told twice a second.
func conduct[F, T any](
	t *testing.T, stream grpc.BidiStreamingServer[F, T], to chan<- side[F, T], ping *T,
) error {
	header, _ := metadata.FromIncomingContext(stream.Context())
	s := side[F, T]{t, header["authorization"], make(chan *F, 1024), make(chan any, 16)}
	to <- s
	go func() {
		for {
			message, err := stream.Recv()
			if err == io.EOF {
				close(s.heard)
			}
			if err != nil {
				return
			}
			s.heard <- message
		}
	}()
	pings := time.NewTicker(500 * time.Millisecond)
	defer pings.Stop()
	for {
		message := any(ping)
		select {
		case message = <-s.tell:
		case <-pings.C:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
		switch err, _ := message.(error); err {
		case nil:
		case io.EOF:
			return nil
		case silence:
			pings.Stop()
			continue
		default:
			return err
		}
		if told := message.(*T); told != nil {
			if err := stream.Send(told); err != nil {
				return err
			}
		}
	}
}

// next is what the bot sends.
func (s side[F, T]) next() *F {
	s.t.Helper()
	message := await(s.t, s.heard)
	if message == nil {
		s.t.Fatal("the bot's side has ended")
	}
	return message
}

type (
	control = side[arenav1.FromBot, arenav1.ToBot]
	seat    = side[arenav1.FromSeat, arenav1.ToSeat]
)

// lobby is that of an arena.
type lobby struct {
	arenav1.UnimplementedLobbyServer
	t        *testing.T
	controls chan control
	seats    chan seat
}

func (l *lobby) Attend(stream grpc.BidiStreamingServer[arenav1.FromBot, arenav1.ToBot]) error {
	ping := &arenav1.ToBot{Message: &arenav1.ToBot_Ping{Ping: &arenav1.Ping{Number: 7}}}
	return conduct(l.t, stream, l.controls, ping)
}

func (l *lobby) Play(stream grpc.BidiStreamingServer[arenav1.FromSeat, arenav1.ToSeat]) error {
	return conduct(l.t, stream, l.seats, nil)
}

// dialled is the bot's next control stream.
func (l *lobby) dialled() control {
	l.t.Helper()
	c := await(l.t, l.controls)
	services := c.next().GetHello().GetServices()
	if !slices.Equal(services, []string{"games.connect_four.v1.ConnectFourBot"}) {
		l.t.Fatalf("it plays %v", services)
	}
	if !slices.Equal(c.authorization, []string{"Bearer " + botsToken}) {
		l.t.Fatalf("its header is %v", c.authorization)
	}
	return c
}

// greeted is the bot's next control stream, which has been let in.
func (l *lobby) greeted() control {
	l.t.Helper()
	c := l.dialled()
	greet(c)
	return c
}

func greet(c control) {
	c.tell <- &arenav1.ToBot{
		Message: &arenav1.ToBot_Greeting{Greeting: &arenav1.Greeting{Name: "me"}},
	}
}

// taken is the bot's next stream of a seat, which it must take in this way.
func (l *lobby) taken(calls uint64, last []byte) seat {
	l.t.Helper()
	s := await(l.t, l.seats)
	expected := &arenav1.Take{Key: botsKey, Calls: calls, Answer: last}
	if take := s.next().GetTake(); !proto.Equal(take, expected) {
		l.t.Fatalf("%v: expected %v", take, expected)
	}
	return s
}

func invite(c control) {
	c.tell <- &arenav1.ToBot{Message: &arenav1.ToBot_Invitation{Invitation: &arenav1.Invitation{
		Key: botsKey, Service: "games.connect_four.v1.ConnectFourBot",
	}}}
}

func tell(s seat, call *call) {
	s.t.Helper()
	text, err := proto.Marshal(call)
	if err != nil {
		s.t.Fatal(err)
	}
	s.tell <- &arenav1.ToSeat{Call: text}
}

// ask asks the bot a question, and returns its answer as it was sent.
func ask(s seat, question *call) []byte {
	s.t.Helper()
	tell(s, question)
	text := s.next().GetAnswer()
	var read answer
	if err := proto.Unmarshal(text, &read); err != nil || read.Number == nil {
		s.t.Fatalf("%v, %v: expected an answer", &read, err)
	}
	if read.GetNumber() != question.GetNumber() {
		s.t.Fatalf("%v: expected an answer to question %d", &read, question.GetNumber())
	}
	return text
}

// file is a file with this text.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(folder(t), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// joined is a bot in a process, which dials a lobby.
func joined(
	t *testing.T, how, scheme string, with credentials.TransportCredentials, more ...string,
) (*lobby, process) {
	t.Helper()
	l := &lobby{t: t, controls: make(chan control, 16), seats: make(chan seat, 16)}
	server := grpc.NewServer(grpc.Creds(with))
	arenav1.RegisterLobbyServer(server, l)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	address := scheme + "://" + listener.Addr().String()
	environment := append(more, "BOT_JOIN="+address, "BOT_TOKEN_FILE="+file(t, botsToken+"\n"))
	return l, begin(t, "", how, environment...)
}

func playsByInvitation(t *testing.T, l *lobby, p process) {
	t.Helper()
	c := l.greeted()
	if line := p.line(); !strings.HasPrefix(line, "attending at http") ||
		!strings.HasSuffix(line, " as me") {
		t.Errorf("%q, %s", line, p.stderr)
	}
	if pong := c.next().GetPong(); pong.GetNumber() != 7 {
		t.Errorf("%v", pong)
	}
	invite(c)
	s := l.taken(0, nil)
	ask(s, startCall("g1"))
	// It only keeps the stream open.
	s.tell <- &arenav1.ToSeat{}
	if message := s.next(); !proto.Equal(message, &arenav1.FromSeat{}) {
		t.Errorf("%v", message)
	}
	ask(s, pointCall(1))
	p.signal(syscall.SIGTERM)
	for c.next().GetDrain() == nil {
	}
	// The game that runs goes on, and meanwhile the bot still attends.
	ask(s, pointCall(2))
	select {
	case message := <-c.heard:
		t.Errorf("%v: expected that its control stream is open", message)
	default:
	}
	tell(s, overCall("four in a row"))
	s.tell <- io.EOF
	// It ends its side, and waits for the end of ours.
	if message := await(t, c.heard); message != nil {
		t.Errorf("%v: expected the end of its side", message)
	}
	c.tell <- io.EOF
	p.end()
}

func TestABotJoinsAndPlaysAndEndsInOrder(t *testing.T) {
	l, p := joined(t, "plays", "http", insecure.NewCredentials())
	playsByInvitation(t, l, p)
}

func TestABotJoinsByTLSWithTheAuthorityThatItIsTold(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	block := &pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}
	ca := file(t, string(pem.EncodeToMemory(block)))
	with := credentials.NewServerTLSFromCert(&web.TLS.Certificates[0])
	l, p := joined(t, "plays", "https", with, "BOT_CA="+ca)
	playsByInvitation(t, l, p)
}

func TestABotThatWasCutOffComesBackToItsGame(t *testing.T) {
	l, _ := joined(t, "plays", "http", insecure.NewCredentials())
	c := l.greeted()
	invite(c)
	s := l.taken(0, nil)
	ready := ask(s, startCall("g1"))
	cut := status.Error(codes.Unavailable, "as the test wants it")
	s.tell <- cut
	// It waits for the bot, which knows that already.
	invite(c)
	s = l.taken(1, ready)
	ask(s, pointCall(1))
	// A game goes on without the control stream, and by another connection once there is one.
	c.tell <- cut
	c = l.dialled()
	point := ask(s, pointCall(2))
	greet(c)
	s = l.taken(3, point)
	ask(s, pointCall(3))
	s.tell <- io.EOF
}

func TestAnArenaOfWhichNothingIsHeardIsDialledAgain(t *testing.T) {
	l, _ := joined(t, "plays", "http", insecure.NewCredentials())
	c := l.greeted()
	invite(c)
	ready := ask(l.taken(0, nil), startCall("g1"))
	c.tell <- silence
	l.greeted()
	ask(l.taken(1, ready), pointCall(1))
}

func TestWhatABotFailsWithEndsItsGame(t *testing.T) {
	l, _ := joined(t, "fails", "http", insecure.NewCredentials())
	c := l.greeted()
	invite(c)
	s := l.taken(0, nil)
	ready := ask(s, startCall("g1"))
	tell(s, pointCall(1))
	for range 2 {
		failure := s.next().GetFailure()
		if failure.GetCode() != uint32(codes.Internal) || !strings.Contains(failure.GetMessage(), "no idea") {
			t.Errorf("%v", failure)
		}
		// It may have been lost on the way.
		s.tell <- status.Error(codes.Unavailable, "as the test wants it")
		s = l.taken(2, ready)
	}
	s.tell <- io.EOF
}

func TestABotThatIsNotLetInSaysWhyAndEnds(t *testing.T) {
	superseded := &arenav1.ToBot{
		Message: &arenav1.ToBot_Superseded{Superseded: &arenav1.Superseded{}},
	}
	for words, told := range map[string]any{
		"another process has joined with the same token": superseded,
		"who are you?": status.Error(codes.Unauthenticated, "who are you?"),
		"this arena has no lobby: `arena serve --lobby FILE` opens it": status.Error(codes.Unimplemented, ""),
	} {
		l, p := joined(t, "plays", "http", insecure.NewCredentials())
		await(t, l.controls).tell <- told
		if said := p.fails(); !strings.HasPrefix(said, "could not join: http://127.0.0.1:") ||
			!strings.Contains(said, words) {
			t.Errorf("%q: expected %q", said, words)
		}
	}
}

func TestWhatCanNotBeJoinedIsNamed(t *testing.T) {
	good, bad := file(t, "# ann's\n"+botsToken+"\n"), file(t, "secret")
	for _, each := range []struct{ address, token, ca, words string }{
		{"arena.example:5", good, good, "expected https://HOST:PORT"},
		{"http://arena.example:5", good, good, "it has no TLS"},
		{"http://127.example:5", good, good, "it has no TLS"},
		{"https://arena.example:5", good, good, "expected a certificate as PEM"},
		{"https://arena.example:5", good, bad + "x", "could not read BOT_CA"},
		{"http://[::1]:5", bad, good, bad + ": expected one token"},
		{"http://localhost:5", bad + "x", good, "could not read the token file"},
	} {
		p := begin(t, "", "plays",
			"BOT_JOIN="+each.address, "BOT_TOKEN_FILE="+each.token, "BOT_CA="+each.ca)
		said := p.fails()
		if !strings.HasPrefix(said, "could not join: BOT_JOIN is \""+each.address+"\": ") ||
			!strings.Contains(said, each.words) || strings.Contains(said, "secret") {
			t.Errorf("%q: expected %q", said, each.words)
		}
	}
	p := begin(t, "", "plays", "BOT_JOIN=http://127.0.0.1:5")
	if said := p.fails(); !strings.Contains(said, "BOT_TOKEN_FILE must name the file") {
		t.Error(said)
	}
}
