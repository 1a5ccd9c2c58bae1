package botarena

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
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

const (
	// silent is how long nothing is heard of an arena that is dead: it sends a ping every two
	// seconds.
	silent = 6 * time.Second
	// opensWithin is how long it may take to open a control stream, and to greet then.
	opensWithin = 10 * time.Second
	// The pause before the arena is dialled again: at first, and at most.
	firstPause   = 500 * time.Millisecond
	longestPause = 2 * time.Second
	// backWithin is how long to try to come back to a game; the arena waits for less.
	backWithin = 35 * time.Second
	// lastMessages is how long the last messages of a game, and of a control stream, may take.
	lastMessages = 5 * time.Second
)

var (
	arenaAddress = regexp.MustCompile(`^(https?)://(\[[^\[\]]+\]|[^:/@\[\]]+):([0-9]{1,5})/?$`)
	arenaToken   = regexp.MustCompile(`^arena_[0-9a-fA-F]{64}$`)
)

// arena is one that the bot has joined: it dials the arena's lobby and is invited to games there.
type arena struct {
	address, target string
	credentials     credentials.TransportCredentials
	// header is a context with the header of all calls.
	header    context.Context
	server    *server
	services  services
	attending func(place string)
	// finish gives the games that run their time, once. No game is taken after it.
	finish func()

	playing sync.WaitGroup
	mutex   sync.Mutex
	// keys are those of the games that are played.
	keys map[string]bool
	// conn is that of the last control stream. client is nil while no control stream is open: games go
	// on by streams that are open, but none is opened.
	conn   *grpc.ClientConn
	client arenav1.LobbyClient
	// moved is closed, and replaced, when there is another connection.
	moved chan struct{}
}

// services are those of the bot's games by their names, each with what serves a stream.
type services map[string]func(grpc.ServerStream) error

// RegisterService adds the service of a game, whose one method is Play.
func (s services) RegisterService(service *grpc.ServiceDesc, server any) {
	play := service.Streams[0].Handler
	s[service.ServiceName] = func(stream grpc.ServerStream) error { return play(server, stream) }
}

// join attends at an arena until ctx is done, and comes back wherever it is cut off. It tells
// attending each time it is let in.
func (b Bot) join(ctx context.Context, address string, attending func(place string)) error {
	if err := b.check(); err != nil {
		return err
	}
	a := &arena{
		address: address, server: newServer(b), services: services{}, attending: attending,
		keys: map[string]bool{}, moved: make(chan struct{}),
	}
	if err := a.configure(); err != nil {
		return fmt.Errorf("could not join: BOT_JOIN is %q: %w", address, err)
	}
	a.server.registerGames(a.services)
	a.finish = sync.OnceFunc(a.letGamesEnd)
	defer a.move(nil, nil)
	defer a.finish()
	told, pause := "", firstPause
	for ctx.Err() == nil {
		began := time.Now()
		broken, err := a.attend(ctx)
		if err != nil {
			return fmt.Errorf("could not join: %s: %w", address, err)
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		if broken != told && ctx.Err() == nil {
			a.server.logger.Warn(fmt.Sprintf("%s: %s; it is tried again", address, broken))
			told = broken
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
	return nil
}

// configure reads the address and the files that the environment names.
func (a *arena) configure() error {
	found := arenaAddress.FindStringSubmatch(a.address)
	if found == nil {
		return errors.New("expected https://HOST:PORT or http://HOST:PORT")
	}
	a.target, a.credentials = found[2]+":"+found[3], insecure.NewCredentials()
	if host := found[2]; found[1] == "https" {
		authorities, err := authorities()
		if err != nil {
			return err
		}
		a.credentials = credentials.NewTLS(&tls.Config{RootCAs: authorities})
	} else if host != "localhost" && !net.ParseIP(strings.Trim(host, "[]")).IsLoopback() {
		return errors.New(
			"it has no TLS, and whoever is between could read the token: use https://")
	}
	token, err := token()
	a.header = metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+token)
	return err
}

func token() (string, error) {
	file, ok := os.LookupEnv("BOT_TOKEN_FILE")
	if !ok {
		return "", errors.New("BOT_TOKEN_FILE must name the file with the token that you were given")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("could not read the token file: %w", err)
	}
	var tokens []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			tokens = append(tokens, line)
		}
	}
	if len(tokens) != 1 || !arenaToken.MatchString(tokens[0]) {
		return "", fmt.Errorf("%s: expected one token: arena_ and 64 hexadecimal digits", file)
	}
	return tokens[0], nil
}

// authorities are nil where those count that the system trusts.
func authorities() (*x509.CertPool, error) {
	file, ok := os.LookupEnv("BOT_CA")
	if !ok {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("could not read BOT_CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("BOT_CA is %s: expected a certificate as PEM", file)
	}
	return pool, nil
}

// attend is one control stream, from its beginning to its end. It says why it broke; an error is
// one that trying again does not help.
func (a *arena) attend(stop context.Context) (broken string, err error) {
	// A connection of its own each time: one that is dead is not found again.
	conn, err := grpc.NewClient(a.target, grpc.WithTransportCredentials(a.credentials))
	if err != nil {
		return "", err
	}
	defer a.lose(conn)
	ctx, cancel := context.WithCancel(a.header)
	defer cancel()
	opening, opened := context.WithTimeout(stop, opensWithin)
	defer opened()
	goOn := context.AfterFunc(opening, cancel)
	client := arenav1.NewLobbyClient(conn)
	stream, err := client.Attend(ctx)
	if !goOn() {
		return "it does not answer", nil
	} else if err != nil {
		return ended(err)
	}
	// Where sending fails, receiving says why.
	stream.Send(&arenav1.FromBot{Message: &arenav1.FromBot_Hello{Hello: &arenav1.Hello{
		Services: slices.Sorted(maps.Keys(a.services)), Program: "botarena (Go)",
	}}})
	heard := receive(ctx, stream.Recv)
	silence := time.NewTimer(opensWithin)
	for {
		select {
		case <-stop.Done():
			stream.Send(&arenav1.FromBot{Message: &arenav1.FromBot_Drain{Drain: &arenav1.Drain{}}})
			a.finish()
			stream.CloseSend()
			isHeardOut(heard)
			return "", nil
		case <-silence.C:
			return "nothing is heard of it", nil
		case got := <-heard:
			if got.err != nil {
				return ended(got.err)
			}
			silence.Reset(silent)
			switch message := got.call.Message.(type) {
			case *arenav1.ToBot_Greeting:
				a.attending(a.address + " as " + message.Greeting.GetName())
				a.move(conn, client)
			case *arenav1.ToBot_Ping:
				pong := &arenav1.Pong{Number: message.Ping.GetNumber()}
				stream.Send(&arenav1.FromBot{Message: &arenav1.FromBot_Pong{Pong: pong}})
			case *arenav1.ToBot_Invitation:
				a.take(message.Invitation)
			case *arenav1.ToBot_Superseded:
				return "", errors.New("another process has joined with the same token, and this one " +
					"ends; each process needs a token of its own")
			}
		}
	}
}

// ended is what the end of a control stream means.
func ended(err error) (broken string, refused error) {
	if err == io.EOF {
		return "it has ended the stream", nil
	}
	said := status.Convert(err)
	switch {
	case said.Code() == codes.Unimplemented:
		return "", errors.New("this arena has no lobby: `arena serve --lobby FILE` opens it")
	case isRefusal(said.Code()):
		return "", errors.New(said.Message())
	case said.Message() == "":
		return said.Code().String(), nil
	}
	return said.Message(), nil
}

// isRefusal is true where the arena does not let a bot in, and will not later.
func isRefusal(code codes.Code) bool {
	return code == codes.Unauthenticated || code == codes.PermissionDenied ||
		code == codes.InvalidArgument
}

// move says that the arena is reached by another connection.
func (a *arena) move(conn *grpc.ClientConn, client arenav1.LobbyClient) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	old := a.conn
	a.conn, a.client = conn, client
	close(a.moved)
	a.moved = make(chan struct{})
	if old != nil {
		old.Close()
	}
}

// lose says that the control stream of this connection is no longer open.
func (a *arena) lose(conn *grpc.ClientConn) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.client = nil
	if a.conn != conn {
		conn.Close()
	}
}

func (a *arena) reached() (client arenav1.LobbyClient, moved <-chan struct{}) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.client, a.moved
}

func (a *arena) letGamesEnd() {
	finished := make(chan struct{})
	go func() {
		a.playing.Wait()
		a.server.games.stop()
		<-a.server.games.idle
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(grace):
	}
}

// take takes a seat. An invitation to a game that is played already says that it waits for us, which
// its own goroutine knows.
func (a *arena) take(invitation *arenav1.Invitation) {
	serve, key := a.services[invitation.GetService()], string(invitation.GetKey())
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if serve == nil || a.keys[key] {
		return
	}
	a.keys[key] = true
	a.playing.Add(1)
	go func() {
		defer a.playing.Done()
		a.play(invitation.GetKey(), serve)
		a.mutex.Lock()
		defer a.mutex.Unlock()
		delete(a.keys, key)
	}()
}

// play plays one game, by as many streams as it takes.
func (a *arena) play(key []byte, serve func(grpc.ServerStream) error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &seat{
		ctx: ctx, key: key,
		calls: make(chan []byte), answers: make(chan []byte), ended: make(chan struct{}),
	}
	go func() {
		s.err = serve(s)
		close(s.ended)
	}()
	since := time.Now()
	for {
		client, moved := a.reached()
		if client != nil && s.sit(a.header, client) {
			break
		}
		if s.wasHeard {
			s.wasHeard, since = false, time.Now()
		}
		if time.Since(since) > backWithin {
			break
		}
		select {
		case <-moved:
		case <-time.After(firstPause):
		}
	}
	// The bot hears that there is no further call. Nobody needs an answer that it may still give.
	close(s.calls)
	late := time.After(lastMessages)
	for {
		select {
		case <-s.answers:
		case <-s.ended:
			return
		case <-late:
			return
		}
	}
}

// seat is a game on the side of the bot, and the stream that its session reads from and writes to.
type seat struct {
	// It has no other methods than those below: sessions call no others.
	grpc.ServerStream
	ctx context.Context
	key []byte
	// heard is how many calls the bot was given, last its last answer.
	heard uint64
	last  []byte
	// wasHeard says that the arena was heard by the last stream.
	wasHeard       bool
	calls, answers chan []byte
	// ended is closed when the session has ended, with err.
	ended chan struct{}
	err   error
}

func (s *seat) Context() context.Context { return s.ctx }

func (s *seat) RecvMsg(message any) error {
	select {
	case call, ok := <-s.calls:
		if !ok {
			return io.EOF
		}
		if err := proto.Unmarshal(call, message.(proto.Message)); err != nil {
			return status.Errorf(codes.Internal, "not a message of this game: %v", err)
		}
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

func (s *seat) SendMsg(message any) error {
	answer, err := proto.Marshal(message.(proto.Message))
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	select {
	case s.answers <- answer:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// sit plays by one stream. True if the game is over for us; else the stream broke, as it also does
// when the arena is reached by another connection and the old one is closed.
func (s *seat) sit(header context.Context, client arenav1.LobbyClient) bool {
	ctx, cancel := context.WithCancel(header)
	defer cancel()
	stream, err := client.Play(ctx)
	if err != nil {
		return isLast(err)
	}
	stream.Send(&arenav1.FromSeat{Message: &arenav1.FromSeat_Take{
		Take: &arenav1.Take{Key: s.key, Calls: s.heard, Answer: s.last},
	}})
	heard := receive(ctx, stream.Recv)
	// call is one that the bot has not taken yet. No further one is read before.
	var call []byte
	for {
		from, to := heard, s.calls
		if call != nil {
			from = nil
		} else {
			to = nil
		}
		select {
		case got := <-from:
			if got.err != nil {
				return isLast(got.err)
			}
			s.wasHeard = true
			if call = got.call.Call; call == nil {
				stream.Send(&arenav1.FromSeat{})
			}
		case to <- call:
			s.heard++
			call = nil
		case answer := <-s.answers:
			s.last = answer
			stream.Send(&arenav1.FromSeat{Message: &arenav1.FromSeat_Answer{Answer: answer}})
		case <-s.ended:
			said := status.Convert(s.err)
			stream.Send(&arenav1.FromSeat{Message: &arenav1.FromSeat_Failure{
				Failure: &arenav1.Failure{Code: uint32(said.Code()), Message: said.Message()},
			}})
			stream.CloseSend()
			return isHeardOut(heard)
		}
	}
}

// isHeardOut waits for the end of a stream whose side that is ours has ended: who drops a stream may
// lose its last message.
func isHeardOut[C any](heard <-chan received[C]) bool {
	late := time.After(lastMessages)
	for {
		select {
		case got := <-heard:
			if got.err != nil {
				return isLast(got.err)
			}
		case <-late:
			return false
		}
	}
}

// isLast is true if the end of a stream ends the game; others are those of a connection that broke.
func isLast(err error) bool {
	code := status.Code(err)
	return err == io.EOF || isRefusal(code) ||
		code == codes.NotFound || code == codes.Aborted
}
