package botarena

import (
	"context"
	"fmt"
	"time"

	arenav1 "botarena/proto/arena/v1"
)

// A GameStart says how a game begins.
type GameStart struct {
	GameID string
	// Game is its name, for example connect_four.
	Game string
	// Seat is your place, from 0.
	Seat int
	// Seats is how many the game has.
	Seats int
	// MoveLimit is the longest that one question may take.
	MoveLimit time.Duration
	// Budget is what is left of a time budget over several games; nil where there is none.
	Budget *time.Duration
	// BotSeed is a seed for the bot's own random numbers, so that games can be repeated;
	// independent of the deal.
	BotSeed         uint64
	RulesVersion    int
	BehaviorVersion int
}

// A GameOver says how a game has ended.
type GameOver struct {
	// Results has one entry for each seat, in order of the seats.
	Results []SeatResult
	Ending  Ending
	// Reason is the same in words, for example "four in a row".
	Reason string
}

// A SeatResult says how one seat came out.
type SeatResult struct {
	// Place is counted from 1, the best; seats that share a place have the same number.
	Place int
	// Score is in the game's own unit.
	Score int64
	// Foul is what the seat did wrong, or NoFoul.
	Foul FoulKind
}

// An Ending is what ended a game. Values of a newer referee, which this kit does not know, are kept
// as they are.
type Ending int32

// The endings.
const (
	EndingPlayed   = Ending(arenav1.Ending_ENDING_PLAYED)
	EndingFoul     = Ending(arenav1.Ending_ENDING_FOUL)
	EndingResigned = Ending(arenav1.Ending_ENDING_RESIGNED)
	EndingVoid     = Ending(arenav1.Ending_ENDING_VOID)
)

// String returns the ending's name, for example "PLAYED".
func (e Ending) String() string {
	return enumName(arenav1.Ending_name, int32(e), "ENDING_", "Ending")
}

// A FoulKind is what a seat can do wrong. Values of a newer referee, which this kit does not know,
// are kept as they are.
type FoulKind int32

// The kinds of fouls.
const (
	NoFoul             FoulKind = 0
	FoulUnreachable             = FoulKind(arenav1.FoulKind_FOUL_KIND_UNREACHABLE)
	FoulNoStart                 = FoulKind(arenav1.FoulKind_FOUL_KIND_NO_START)
	FoulUnsupported             = FoulKind(arenav1.FoulKind_FOUL_KIND_UNSUPPORTED)
	FoulCrashed                 = FoulKind(arenav1.FoulKind_FOUL_KIND_CRASHED)
	FoulHungUp                  = FoulKind(arenav1.FoulKind_FOUL_KIND_HUNG_UP)
	FoulErrorStatus             = FoulKind(arenav1.FoulKind_FOUL_KIND_ERROR_STATUS)
	FoulMalformed               = FoulKind(arenav1.FoulKind_FOUL_KIND_MALFORMED)
	FoulWrongNumber             = FoulKind(arenav1.FoulKind_FOUL_KIND_WRONG_NUMBER)
	FoulUnsolicited             = FoulKind(arenav1.FoulKind_FOUL_KIND_UNSOLICITED)
	FoulOversized               = FoulKind(arenav1.FoulKind_FOUL_KIND_OVERSIZED)
	FoulMemoryExceeded          = FoulKind(arenav1.FoulKind_FOUL_KIND_MEMORY_EXCEEDED)
	FoulIllegal                 = FoulKind(arenav1.FoulKind_FOUL_KIND_ILLEGAL)
	FoulLate                    = FoulKind(arenav1.FoulKind_FOUL_KIND_LATE)
	FoulFlooded                 = FoulKind(arenav1.FoulKind_FOUL_KIND_FLOODED)
	FoulInterfered              = FoulKind(arenav1.FoulKind_FOUL_KIND_INTERFERED)
	FoulResigned                = FoulKind(arenav1.FoulKind_FOUL_KIND_RESIGNED)
)

// String returns the foul's name, for example "LATE".
func (f FoulKind) String() string {
	if f == NoFoul {
		return "none"
	}
	return enumName(arenav1.FoulKind_name, int32(f), "FOUL_KIND_", "FoulKind")
}

// A GameOverHandler is told how its game has ended. It is not told if it has committed a foul, nor
// where the game was cut off. Bots of all games may be one.
type GameOverHandler interface {
	GameOver(ctx context.Context, over GameOver) error
}

// WithReserve returns a context whose deadline leaves a tenth of the time that is left, for the way
// of the answer to the referee. A search that ends when it is done is in time.
func WithReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/10))
}

func readStart(start *arenav1.GameStart) GameStart {
	read := GameStart{
		GameID:          start.GetGameId(),
		Game:            start.GetGame(),
		Seat:            int(start.GetSeat()),
		Seats:           int(start.GetSeats()),
		MoveLimit:       start.GetMoveLimit().AsDuration(),
		BotSeed:         start.GetBotSeed(),
		RulesVersion:    int(start.GetRulesVersion()),
		BehaviorVersion: int(start.GetBehaviorVersion()),
	}
	if start.Budget != nil {
		budget := start.Budget.AsDuration()
		read.Budget = &budget
	}
	return read
}

func readOver(over *arenav1.GameOver) GameOver {
	read := GameOver{Ending: Ending(over.GetEnding()), Reason: over.GetReason()}
	for _, seat := range over.GetResults() {
		read.Results = append(read.Results, SeatResult{
			Place: int(seat.GetPlace()),
			Score: seat.GetScore(),
			Foul:  FoulKind(seat.GetFoul()),
		})
	}
	return read
}

// enumName is the name of a value without the part that all names of its enum begin with.
func enumName(names map[int32]string, value int32, prefix, kind string) string {
	if name, ok := names[value]; ok && value != 0 {
		return name[len(prefix):]
	}
	return fmt.Sprintf("%s(%d)", kind, value)
}
