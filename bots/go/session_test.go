package botarena_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/durationpb"

	"botarena"
	arenav1 "botarena/proto/arena/v1"
	connectfourv1 "botarena/proto/games/connect_four/v1"
)

func TestQuestion0IsAnsweredByWhatTheBotSaysOfItself(t *testing.T) {
	bot := playing(leftmost)
	bot.MaxGames, bot.CanResume = 3, true
	conn, _ := serve(t, bot)
	s := connectFour(t, conn)
	got := s.ask(startCall("g1"))
	if got.Number == nil || *got.Number != 0 {
		t.Errorf("number %v: expected 0, and that it is present", got.Number)
	}
	ready := got.GetReady()
	if ready.Bot != "test" || ready.Version != "1" || ready.GetMaxGames() != 3 || !ready.CanResume {
		t.Errorf("%v", ready)
	}
	s.close()
}

func TestOneGameAtOnceAndNoResumingUnlessItIsSaid(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	ready := connectFour(t, conn).ask(startCall("g1")).GetReady()
	if ready.MaxGames == nil || *ready.MaxGames != 1 || ready.CanResume {
		t.Errorf("%v", ready)
	}
}

func TestAnAnswerRepeatsItsQuestionsNumberAndSetsWhatIsZero(t *testing.T) {
	conn, _ := serve(t, playing(getPoint(
		func(context.Context, botarena.GetPoint) (botarena.Point, error) {
			return botarena.Point{}, nil
		})))
	s := started(t, conn)
	for _, n := range []uint32{7, 3, 0, 4_000_000_000} {
		got := s.ask(pointCall(n))
		point := got.GetPoint()
		if got.Number == nil || *got.Number != n || point.X == nil || point.Y == nil {
			t.Errorf("%v", got)
		}
	}
	s.close()
}

type listening struct{ told chan any }

func (l listening) GetPoint(context.Context, botarena.GetPoint) (botarena.Point, error) {
	return botarena.Point{}, nil
}

func (l listening) GameOver(_ context.Context, over botarena.GameOver) error {
	l.told <- over
	return nil
}

func (l listening) Close() error {
	l.told <- "closed"
	return nil
}

func TestAGameGetsItsStartAndItsEnd(t *testing.T) {
	told := make(chan any, 10)
	conn, _ := serve(t, botarena.Bot{
		ConnectFour: func(
			_ context.Context, start botarena.GameStart,
		) (botarena.ConnectFourBot, error) {
			told <- start
			return listening{told}, nil
		},
	})
	s := connectFour(t, conn)
	foul, unknown := arenav1.FoulKind_FOUL_KIND_LATE, arenav1.FoulKind(99)
	s.ask(&call{Number: number(0), Call: &connectfourv1.ConnectFourCall_Start{
		Start: &arenav1.GameStart{
			GameId: "g1", Game: "connect_four", Seat: 1, Seats: 2,
			MoveLimit: durationpb.New(1500 * time.Millisecond), Budget: durationpb.New(0),
			BotSeed: 1<<64 - 1, RulesVersion: 3, BehaviorVersion: 4,
		},
	}})
	s.send(&call{Call: &connectfourv1.ConnectFourCall_Over{Over: &arenav1.GameOver{
		Results: []*arenav1.SeatResult{
			{Place: 1, Score: 1},
			{Place: 2, Score: -1, Foul: &foul},
			{Place: 2, Score: -1, Foul: &unknown},
		},
		Ending: 77, Reason: "too late",
	}}})
	s.close()
	start := (<-told).(botarena.GameStart)
	if start.Budget == nil || *start.Budget != 0 {
		t.Errorf("a budget of 0 is not the same as none: %v", start.Budget)
	}
	start.Budget = nil
	if start != (botarena.GameStart{
		GameID: "g1", Game: "connect_four", Seat: 1, Seats: 2, MoveLimit: 1500 * time.Millisecond,
		BotSeed: 1<<64 - 1, RulesVersion: 3, BehaviorVersion: 4,
	}) {
		t.Errorf("%+v", start)
	}
	// What a newer referee says is kept.
	over := fmt.Sprintf("%+v", await(t, told))
	expected := "{Results:[{Place:1 Score:1 Foul:none} {Place:2 Score:-1 Foul:LATE} " +
		"{Place:2 Score:-1 Foul:FoulKind(99)}] Ending:Ending(77) Reason:too late}"
	if over != expected {
		t.Errorf("%s", over)
	}
	if await(t, told) != "closed" {
		t.Error("it was not closed")
	}
}

func TestEveryFoulAndEndingOfTheProtocolHasItsName(t *testing.T) {
	for value, name := range arenav1.FoulKind_name {
		if got := botarena.FoulKind(value).String(); value != 0 && "FOUL_KIND_"+got != name {
			t.Errorf("%s is %s", name, got)
		}
	}
	for value, name := range arenav1.Ending_name {
		if got := botarena.Ending(value).String(); value != 0 && "ENDING_"+got != name {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestTheContextOfAQuestionHasItsLimit(t *testing.T) {
	left := make(chan time.Duration, 1)
	reserved := make(chan time.Duration, 1)
	conn, _ := serve(t, playing(getPoint(
		func(ctx context.Context, ask botarena.GetPoint) (botarena.Point, error) {
			deadline, ok := ctx.Deadline()
			if !ok {
				return botarena.Point{}, errors.New("no deadline")
			}
			left <- time.Until(deadline)
			early, cancel := botarena.WithReserve(ctx)
			defer cancel()
			earlier, _ := early.Deadline()
			reserved <- deadline.Sub(earlier)
			return ask.Points()[0], nil
		})))
	s := started(t, conn)
	question := pointCall(1)
	question.Limit = durationpb.New(time.Hour)
	s.ask(question)
	if limit := <-left; limit > time.Hour || limit < time.Hour-time.Minute {
		t.Errorf("%v is left of an hour", limit)
	}
	if reserve := <-reserved; reserve > 6*time.Minute || reserve < 5*time.Minute {
		t.Errorf("%v is reserved of an hour", reserve)
	}
	// A limit of 0 is not the same as none.
	question = pointCall(2)
	question.Limit = durationpb.New(0)
	s.ask(question)
	if limit := <-left; limit > 0 {
		t.Errorf("%v is left of 0", limit)
	}
	<-reserved
	question = pointCall(3)
	question.Limit = nil
	s.send(question)
	if words := s.refused(codes.Internal); !strings.Contains(words, "no deadline") {
		t.Error(words)
	}
}

func TestAStartThatWasAnsweredBeforeIsNotAnsweredAgain(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	s := connectFour(t, conn)
	start := startCall("g1")
	start.PastAnswer = &answer{}
	s.send(start)
	if got := s.ask(pointCall(1)); got.GetNumber() != 1 {
		t.Errorf("%v", got)
	}
	// Nor is another question, also where the bot has no callback for it.
	past := pointCall(2)
	past.PastAnswer = &answer{}
	s.send(past)
	s.close()
}

func TestWhatIsUnknownIsNotAnswered(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	s := started(t, conn)
	field99 := protowire.AppendBytes(protowire.AppendTag(nil, 99, protowire.BytesType), []byte("hi"))
	for _, n := range []*uint32{nil, number(5)} {
		unknown := &call{Number: n}
		unknown.ProtoReflect().SetUnknown(field99)
		s.send(unknown)
	}
	s.send(&call{Call: &connectfourv1.ConnectFourCall_Forfeit{Forfeit: &arenav1.Forfeit{Seat: 1}}})
	known := pointCall(6)
	known.ProtoReflect().SetUnknown(field99)
	if got := s.ask(known); got.GetNumber() != 6 {
		t.Errorf("%v", got)
	}
	s.close()
}

func TestACallThatCanNotBeIsRefused(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	noNumber, small, question := startCall("g1"), pointCall(1), pointCall(1)
	noNumber.Number, question.Number = nil, nil
	small.GetGetPoint().Board = make([]byte, 3)
	for _, each := range []struct {
		begun bool
		call  *call
		code  codes.Code
		words string
	}{
		{false, noNumber, codes.InvalidArgument, "not a call of this game: a question without a number"},
		{false, pointCall(0), codes.FailedPrecondition, "the game has not begun"},
		{true, startCall("g1"), codes.FailedPrecondition, "the game has begun already"},
		{true, question, codes.InvalidArgument, "not a call of this game: a question without a number"},
		{
			true, small, codes.InvalidArgument,
			"not a call of this game: 3 cells on a board of 4 rows, 5 columns",
		},
	} {
		s := connectFour(t, conn)
		if each.begun {
			s.ask(startCall("g1"))
		}
		s.send(each.call)
		if words := s.refused(each.code); words != each.words {
			t.Errorf("%q: expected %q", words, each.words)
		}
	}
}

type shy struct{}

func (shy) Error() string { panic("no words") }

func TestAnErrorOrPanicEndsItsGameWithTheAuthorsLineAndNoOther(t *testing.T) {
	var none []int
	for name, each := range map[string]struct {
		fail  func() error
		words string
	}{
		"error":   {func() error { return errors.New("oh") }, "error in GetPoint: oh"},
		"located": {func() error { return botarena.Errorf("no %d", 7) }, "error in GetPoint: no 7"},
		"wrapped": {
			func() error { return fmt.Errorf("mine: %w", botarena.Errorf("no")) },
			"error in GetPoint: mine: no",
		},
		"panic": {func() error { panic("oh") }, "panic in GetPoint: oh"},
		"runtime": {
			func() error { return fmt.Errorf("%d", none[3]) },
			"panic in GetPoint: runtime error: index out of range [3] with length 0",
		},
		"library": {
			func() error { return json.Unmarshal([]byte("1"), &panics{}) },
			"panic in GetPoint: mine",
		},
		"nil":  {func() error { panic(nil) }, "panic in GetPoint: panic called with nil argument"},
		"shy":  {func() error { return shy{} }, "error in GetPoint: %!v(PANIC=Error method: no words)"},
		"long": {func() error { panic(strings.Repeat("棋", 100_000)) }, "panic in GetPoint: 棋棋"},
		"text": {func() error { panic("\xff") }, "panic in GetPoint: \uFFFD"},
		"exit": {func() error { runtime.Goexit(); return nil }, "GetPoint called runtime.Goexit"},
	} {
		t.Run(name, func(t *testing.T) {
			var logged log
			bot := playing(getPoint(
				func(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
					if ask.Last != nil {
						return botarena.Point{}, each.fail()
					}
					return ask.Points()[0], nil
				}))
			bot.MaxGames, bot.Logger = 2, logged.logger()
			conn, _ := serve(t, bot)
			other, s := started(t, conn), started(t, conn)
			bad := pointCall(1)
			bad.GetGetPoint().LastX, bad.GetGetPoint().LastY = 3, 3
			s.send(bad)
			words := s.refused(codes.Internal)
			at := regexp.MustCompile(`^(session|harness)_test\.go:[0-9]+: `).FindString(words)
			if at == "" || !strings.HasPrefix(words[len(at):], each.words) {
				t.Errorf("%q: expected the place and %q", words, each.words)
			}
			// An error that knows no place is told with that of its callback.
			if inCallback := name == "error" || name == "shy" || name == "exit"; inCallback !=
				strings.HasPrefix(at, "harness_test.go:") {
				t.Errorf("the place is %s", at)
			}
			if len([]rune(words)) > 500 {
				t.Errorf("%d characters", len([]rune(words)))
			}
			if other.ask(pointCall(1)).GetNumber() != 1 {
				t.Error("the other game has ended too")
			}
			if shown := logged.String(); !strings.Contains(shown, strings.TrimSuffix(at, ": ")) ||
				!strings.Contains(shown, "game=g1") {
				t.Errorf("it logged %q", shown)
			}
		})
	}
}

type panics struct{}

func (panics) UnmarshalJSON([]byte) error { panic("mine") }

func TestAConstructorMayFailToo(t *testing.T) {
	for words, create := range map[string]func() (botarena.ConnectFourBot, error){
		"error in the constructor: no weights": func() (botarena.ConnectFourBot, error) {
			return nil, errors.New("no weights")
		},
		"panic in the constructor: no weights": func() (botarena.ConnectFourBot, error) {
			panic("no weights")
		},
		"the constructor returned nil: expected a ConnectFourBot": func() (
			botarena.ConnectFourBot, error,
		) {
			return nil, nil
		},
	} {
		conn, _ := serve(t, botarena.Bot{
			ConnectFour: func(context.Context, botarena.GameStart) (botarena.ConnectFourBot, error) {
				return create()
			},
		})
		s := connectFour(t, conn)
		s.send(startCall("g1"))
		got := s.refused(codes.Internal)
		if !regexp.MustCompile(`^session_test\.go:[0-9]+: ` + words + `$`).MatchString(got) {
			t.Errorf("%q: expected the place and %q", got, words)
		}
	}
}

// pointer is a bot whose methods are of its pointer and of its value.
type pointer struct{}

func (*pointer) GetPoint(context.Context, botarena.GetPoint) (botarena.Point, error) {
	return botarena.Point{}, nil
}

func (pointer) GameOver(botarena.GameOver) {}

func TestACallbackOfAnotherSignatureIsNoted(t *testing.T) {
	conn, _ := serve(t, playing(&pointer{}))
	s := connectFour(t, conn)
	s.send(startCall("g1"))
	words := s.refused(codes.Internal)
	expected := `^session_test\.go:[0-9]+: GameOver is a func\(botarena\.GameOver\): expected a ` +
		`func\(context\.Context, botarena\.GameOver\) error$`
	if !regexp.MustCompile(expected).MatchString(words) {
		t.Error(words)
	}
}

func TestACancelledGameGivesItsPlaceToTheNextAndIsToldSo(t *testing.T) {
	entered, cancelled := make(chan bool, 2), make(chan bool, 2)
	release := make(chan bool)
	var logged log
	bot := playing(getPoint(func(ctx context.Context, ask botarena.GetPoint) (botarena.Point, error) {
		entered <- true
		if ask.Last != nil {
			return ask.Points()[0], nil
		}
		<-ctx.Done()
		cancelled <- true
		// It goes on for a while, and nobody waits for it.
		<-release
		return botarena.Point{}, ctx.Err()
	}))
	bot.Logger = logged.logger()
	conn, _ := serve(t, bot)
	s := started(t, conn)
	s.send(pointCall(1))
	await(t, entered)
	s.cancel()
	await(t, cancelled)
	next := started(t, conn)
	known := pointCall(1)
	known.GetGetPoint().LastX, known.GetGetPoint().LastY = 3, 3
	if next.ask(known).GetNumber() != 1 {
		t.Error("no answer")
	}
	close(release)
	next.close()
	if logged.String() != "" {
		t.Errorf("it logged %q", logged.String())
	}
}

func TestMoreGamesThanMaxGamesAreRefusedInWords(t *testing.T) {
	bot := playing(leftmost)
	bot.MaxGames = 4
	conn, _ := serve(t, bot)
	for range 4 {
		started(t, conn)
	}
	var more []stream[call, answer]
	for range 6 {
		more = append(more, connectFour(t, conn))
	}
	for _, s := range more {
		words := s.refused(codes.ResourceExhausted)
		if words != "max_games is 4, and as many games are running" {
			t.Error(words)
		}
	}
}

func TestANewGameWaitsForOneThatEnds(t *testing.T) {
	conn, _ := serve(t, playing(leftmost))
	for range 20 {
		s := started(t, conn)
		following := connectFour(t, conn)
		following.send(startCall("g2"))
		s.close()
		following.answer()
		following.close()
	}
}

func TestABotThatIsWrongIsNotServed(t *testing.T) {
	negative, text := playing(leftmost), playing(leftmost)
	negative.MaxGames, text.Name = -1, "\xff"
	for field, bot := range map[string]botarena.Bot{
		"MaxGames": negative, "Name": text,
		"ConnectFour, Mahjong, BigTwo and Othello": {Name: "none"},
	} {
		var wrong *botarena.ConfigError
		err := bot.Serve(context.Background(), "unix:never", nil)
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v: expected an error of %s", err, field)
		}
	}
}
