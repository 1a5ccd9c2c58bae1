package botarena

import (
	"context"
	"fmt"

	arenav1 "botarena/proto/arena/v1"
	othellov1 "botarena/proto/games/othello/v1"
)

// An OthelloBot is a bot in one game of Othello. Seat 0 has the black discs and begins. It may also
// be a [BeginningHandler], a [ResumedMoveHandler] and a [GameOverHandler].
type OthelloBot interface {
	// RequestMove asks where you place a disc. You are asked only where there is a move.
	RequestMove(ctx context.Context, ask RequestMove) (Square, error)
}

// A BeginningHandler is told the position that the game begins with.
type BeginningHandler interface {
	GetBeginning(ctx context.Context, beginning Beginning) error
}

// A ResumedMoveHandler is told of the questions that were asked and answered before, where the
// stream was opened in the middle of a game.
type ResumedMoveHandler interface {
	ResumedMove(ctx context.Context, ask RequestMove, square Square) error
}

// A Square of the board; its index there is 8 * Row + Column.
type Square struct {
	// Row is 0 (row 1, at the top) to 7.
	Row int
	// Column is 0 (column a, at the left) to 7.
	Column int
}

// Valid tells whether it is on the board.
func (s Square) Valid() bool {
	return s.Row >= 0 && s.Row < 8 && s.Column >= 0 && s.Column < 8
}

// String returns the square's name: d3.
func (s Square) String() string {
	if !s.Valid() {
		return fmt.Sprintf("Square{%d, %d}", s.Row, s.Column)
	}
	return fmt.Sprintf("%c%d", "abcdefgh"[s.Column], s.Row+1)
}

// A Previous is what was done last: a disc was placed on Square, or, where that is nil, the side
// Passed, or there was no move yet.
type Previous struct {
	Square *Square
	Passed bool
}

// A Beginning is the position that a game begins with.
type Beginning struct {
	// Board has one byte for each square, row by row from a1: 0 empty, 1 the opponent's disc, 2 your
	// own.
	Board []byte
	// Turn is the seat that moves first: 0 is black, 1 white.
	Turn     int
	Previous Previous
}

// A RequestMove is a question, with the whole position.
type RequestMove struct {
	// Board has one byte for each square, row by row from a1: 0 empty, 1 the opponent's disc, 2 your
	// own.
	Board []byte
	// Previous is what the opponent did last.
	Previous Previous
}

// othello is one seat in one game.
type othello struct {
	new func(context.Context, GameStart) (OthelloBot, error)
	bot OthelloBot
}

type othelloServer struct {
	othellov1.UnimplementedOthelloBotServer
	*server
}

func (s othelloServer) Play(stream othellov1.OthelloBot_PlayServer) error {
	return play(s.server, &othello{new: s.bot.Othello}, stream)
}

func (*othello) envelope(call *othellov1.OthelloCall) envelope {
	return envelope{call.Number, call.Limit, call.PastAnswer != nil, call.GetStart(), call.GetOver()}
}

func (*othello) ready(ready *arenav1.Ready) *othellov1.OthelloAnswer {
	return &othellov1.OthelloAnswer{Answer: &othellov1.OthelloAnswer_Ready{Ready: ready}}
}

func (*othello) number(answer *othellov1.OthelloAnswer, number *uint32) { answer.Number = number }

func (g *othello) create(ctx context.Context, start GameStart) (any, error) {
	bot, err := g.new(ctx, start)
	g.bot = bot
	return bot, err
}

func (*othello) describe() description {
	return description{
		bot:      "OthelloBot",
		optional: []optional{optionalOf[BeginningHandler](), optionalOf[ResumedMoveHandler]()},
	}
}

func (g *othello) begin(ctx context.Context, call *othellov1.OthelloCall, at *callback) error {
	bot, ok := g.bot.(BeginningHandler)
	if !ok || call.Beginning == nil {
		return nil
	}
	beginning := Beginning{Board: call.Beginning.Board, Previous: previousOf(call.Beginning.Previous)}
	if call.Beginning.SideToMove != othellov1.Side_SIDE_BLACK {
		beginning.Turn = 1
	}
	if err := checkBoard(beginning.Board); err != nil {
		return err
	}
	at.name = "GetBeginning"
	return bot.GetBeginning(ctx, beginning)
}

func (g *othello) hear(
	ctx context.Context, call *othellov1.OthelloCall, at *callback,
) (*othellov1.OthelloAnswer, error) {
	it := call.GetRequestMove()
	if it == nil {
		return nil, nil
	}
	if err := checkBoard(it.Board); err != nil {
		return nil, err
	}
	ask := RequestMove{Board: it.Board, Previous: previousOf(it.Previous)}
	if past := call.PastAnswer; past != nil {
		if bot, ok := g.bot.(ResumedMoveHandler); ok {
			at.name = "ResumedMove"
			return nil, bot.ResumedMove(ctx, ask, squareOf(past.GetSquare()))
		}
		return nil, nil
	}
	at.name = "RequestMove"
	square, err := g.bot.RequestMove(ctx, ask)
	if err != nil {
		return nil, err
	}
	if !square.Valid() {
		return nil, at.returned(square, "a Square with a Row and a Column of 0 to 7")
	}
	row, column := uint32(square.Row), uint32(square.Column)
	return &othellov1.OthelloAnswer{
		Answer: &othellov1.OthelloAnswer_Square{
			Square: &othellov1.Square{Row: &row, Column: &column},
		},
	}, nil
}

func checkBoard(board []byte) error {
	if len(board) != 64 {
		return notACall("%d squares on a board", len(board))
	}
	return nil
}

func squareOf(square *othellov1.Square) Square {
	return Square{int(square.GetRow()), int(square.GetColumn())}
}

func previousOf(previous *othellov1.Previous) Previous {
	read := Previous{Passed: previous.GetPass() != nil}
	if it := previous.GetSquare(); it != nil {
		square := squareOf(it)
		read.Square = &square
	}
	return read
}
