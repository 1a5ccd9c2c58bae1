package botarena

import (
	"context"
	"io"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	arenav1 "botarena/proto/arena/v1"
)

// readAhead is how many calls of a stream may wait for the bot; more are left to gRPC.
const readAhead = 16

// game is one seat in one game: how messages become callbacks. C is a call, A an answer.
type game[C, A any] interface {
	describe() description
	envelope(call *C) envelope
	ready(ready *arenav1.Ready) *A
	number(answer *A, number *uint32)
	// create makes the author's object.
	create(ctx context.Context, start GameStart) (any, error)
	// begin tells what comes with the start of the game.
	begin(ctx context.Context, call *C, at *callback) error
	// hear tells a call of the game's own. Its answer has no number yet; a notice has none.
	hear(ctx context.Context, call *C, at *callback) (*A, error)
}

// description is what a game's objects must be and may be.
type description struct {
	bot      string
	optional []optional
}

// envelope is what the calls of all games have. What is nil is absent, which is not the same as 0.
type envelope struct {
	number *uint32
	limit  *durationpb.Duration
	past   bool
	start  *arenav1.GameStart
	over   *arenav1.GameOver
}

// received is a call with the time when it came, or why there will be no more.
type received[C any] struct {
	call *C
	at   time.Time
	err  error
}

// player calls the author's object in one game. Its methods run on the goroutine of that game.
type player[C, A any] struct {
	game    game[C, A]
	ready   *arenav1.Ready
	logger  *slog.Logger
	at      callback
	created bool
	gameID  string
}

// play serves one stream. The author's code runs on a goroutine of its own: where it goes on after
// the stream was cancelled, the stream does not wait for it.
func play[C, A any](s *server, g game[C, A], stream grpc.BidiStreamingServer[C, A]) error {
	if err := s.games.enter(stream.Context()); err != nil {
		return err
	}
	defer s.games.leave()
	// Not the stream's own context, whose deadline means nothing.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	jobs := make(chan func())
	defer close(jobs)
	p := &player[C, A]{game: g, ready: s.ready, logger: s.logger, at: callback{create: s.creates(g)}}
	go func() {
		defer s.games.ended()
		defer p.close()
		for job := range jobs {
			job()
		}
	}()
	calls := receive(stream.Context(), stream.Recv)
	for {
		var answer *A
		var err error
		select {
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		case got := <-calls:
			if got.err == io.EOF {
				return nil
			} else if got.err != nil {
				return got.err
			}
			done := make(chan func() (*A, error), 1)
			jobs <- func() { p.turn(ctx, got, done) }
			select {
			case <-stream.Context().Done():
				return status.FromContextError(stream.Context().Err()).Err()
			case result := <-done:
				answer, err = result()
			}
		}
		if err == nil && answer != nil {
			err = stream.Send(answer)
		}
		if err != nil {
			return err
		}
	}
}

// receive reads calls as they come, so that what a bot does with notices is counted as part of the
// time for the next question.
func receive[C any](ctx context.Context, recv func() (*C, error)) <-chan received[C] {
	calls := make(chan received[C], readAhead)
	go func() {
		for {
			call, err := recv()
			select {
			case calls <- received[C]{call, time.Now(), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return calls
}

// turn tells the bot one call, and done what came of it.
func (p *player[C, A]) turn(ctx context.Context, got received[C], done chan<- func() (*A, error)) {
	var answer *A
	var err error
	returned := false
	defer func() {
		if value := recover(); value != nil {
			frames := stack()
			err = p.at.panicked(value, frames)
			p.log(ctx, err, "stack", trace(frames))
		} else if !returned {
			err = p.at.exited()
			p.log(ctx, err)
		}
		done <- func() (*A, error) { return answer, err }
	}()
	answer, err = p.hear(ctx, got)
	returned = true
	if err != nil {
		if _, ok := err.(*fault); !ok {
			err = p.at.failed(err)
		}
		p.log(ctx, err)
	}
}

// log says why a game ends, but not where it was cut off: then nobody needs the answer.
func (p *player[C, A]) log(ctx context.Context, err error, more ...any) {
	if ctx.Err() == nil {
		p.logger.Error(err.Error(), append([]any{"game", p.gameID}, more...)...)
	}
}

func (p *player[C, A]) hear(ctx context.Context, got received[C]) (*A, error) {
	e := p.game.envelope(got.call)
	if e.limit != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, got.at.Add(e.limit.AsDuration()))
		defer cancel()
	}
	var answer *A
	var err error
	switch {
	case e.start != nil:
		answer, err = p.begin(ctx, got.call, e)
	case !p.created:
		return nil, faultf(codes.FailedPrecondition, "the game has not begun")
	case e.over != nil:
		if bot, ok := p.at.object.(GameOverHandler); ok {
			p.at.name = "GameOver"
			return nil, bot.GameOver(ctx, readOver(e.over))
		}
		return nil, nil
	default:
		answer, err = p.game.hear(ctx, got.call, &p.at)
	}
	if err != nil || answer == nil {
		return nil, err
	}
	if e.number == nil {
		return nil, notACall("a question without a number")
	}
	p.game.number(answer, e.number)
	return answer, nil
}

func (p *player[C, A]) begin(ctx context.Context, call *C, e envelope) (*A, error) {
	if e.number == nil {
		return nil, notACall("a question without a number")
	}
	if p.created {
		return nil, faultf(codes.FailedPrecondition, "the game has begun already")
	}
	start := readStart(e.start)
	p.gameID = start.GameID
	object, err := p.game.create(ctx, start)
	if err != nil {
		return nil, err
	}
	expected := p.game.describe()
	if object == nil {
		return nil, p.at.returned("nil", "a "+expected.bot)
	}
	p.at.object, p.created = object, true
	for _, optional := range append(expected.optional, optionalOf[GameOverHandler]()) {
		if wrong := optional.check(object); wrong != nil {
			return nil, wrong
		}
	}
	if err := p.game.begin(ctx, call, &p.at); err != nil {
		return nil, err
	}
	if e.past {
		// It was answered before the stream was opened.
		return nil, nil
	}
	return p.game.ready(p.ready), nil
}

// close closes the author's object, where it can be closed. Its game is over: nobody but the log is
// told of an error.
func (p *player[C, A]) close() {
	closer, ok := p.at.object.(io.Closer)
	if !ok {
		return
	}
	p.at.name = "Close"
	defer func() {
		if value := recover(); value != nil {
			frames := stack()
			p.log(context.Background(), p.at.panicked(value, frames), "stack", trace(frames))
		}
	}()
	if err := closer.Close(); err != nil {
		p.log(context.Background(), p.at.failed(err))
	}
}
