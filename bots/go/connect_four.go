package botarena

import (
	"context"
	"fmt"
	"math"

	arenav1 "botarena/proto/arena/v1"
	connectfourv1 "botarena/proto/games/connect_four/v1"
)

// A ConnectFourBot is a bot in one game of Connect Four. It may also be a [ResumedPointHandler] and
// a [GameOverHandler].
type ConnectFourBot interface {
	// GetPoint asks where you play. The stone must land exactly there: one of ask.Points().
	GetPoint(ctx context.Context, ask GetPoint) (Point, error)
}

// A ResumedPointHandler is told of the questions that were asked and answered before, where the
// stream was opened in the middle of a game.
type ResumedPointHandler interface {
	ResumedPoint(ctx context.Context, ask GetPoint, point Point) error
}

// A Point is a cell of the board.
type Point struct {
	// X is the row, from 0 at the top.
	X int
	// Y is the column, from 0 at the left.
	Y int
}

// String returns the point as (x, y).
func (p Point) String() string { return fmt.Sprintf("(%d, %d)", p.X, p.Y) }

// A Cell is what lies on a point.
type Cell byte

// What lies on a point. The forbidden cell is Empty.
const (
	Empty    Cell = 0
	Opponent Cell = 1
	Own      Cell = 2
	OffBoard Cell = 255
)

// A GetPoint is a question, with the whole position.
type GetPoint struct {
	// M is how many rows the board has, N how many columns.
	M, N int
	// Top has one byte for each column: the next stone lands in row Top[y] - 1; 0 is full.
	Top []byte
	// Board has one byte for each cell, row by row: 0 empty, 1 the opponent's stone, 2 your own; the
	// forbidden cell is 0.
	Board []byte
	// Last is where the opponent played last; nil where there was no such play yet.
	Last *Point
	// Forbidden is the cell on which no stone lies; nil where there is none.
	Forbidden *Point
}

// Cell returns what lies at row x and column y, as in Board; OffBoard where that is not on it.
func (g GetPoint) Cell(x, y int) Cell {
	if x < 0 || x >= g.M || y < 0 || y >= g.N {
		return OffBoard
	}
	return Cell(g.Board[x*g.N+y])
}

// Landing returns where a stone dropped into this column lands; false if the column is full or is
// not on the board.
func (g GetPoint) Landing(column int) (Point, bool) {
	if column < 0 || column >= g.N || g.Top[column] == 0 {
		return Point{}, false
	}
	return Point{int(g.Top[column]) - 1, column}, true
}

// Points returns every point that can be played, from the left.
func (g GetPoint) Points() []Point {
	var points []Point
	for column := range g.N {
		if point, ok := g.Landing(column); ok {
			points = append(points, point)
		}
	}
	return points
}

// connectFour is one seat in one game.
type connectFour struct {
	new func(context.Context, GameStart) (ConnectFourBot, error)
	bot ConnectFourBot
}

type connectFourServer struct {
	connectfourv1.UnimplementedConnectFourBotServer
	*server
}

func (s connectFourServer) Play(stream connectfourv1.ConnectFourBot_PlayServer) error {
	return play(s.server, &connectFour{new: s.bot.ConnectFour}, stream)
}

func (*connectFour) envelope(call *connectfourv1.ConnectFourCall) envelope {
	return envelope{call.Number, call.Limit, call.PastAnswer != nil, call.GetStart(), call.GetOver()}
}

func (*connectFour) ready(ready *arenav1.Ready) *connectfourv1.ConnectFourAnswer {
	return &connectfourv1.ConnectFourAnswer{
		Answer: &connectfourv1.ConnectFourAnswer_Ready{Ready: ready},
	}
}

func (*connectFour) number(answer *connectfourv1.ConnectFourAnswer, number *uint32) {
	answer.Number = number
}

func (g *connectFour) create(ctx context.Context, start GameStart) (any, error) {
	bot, err := g.new(ctx, start)
	g.bot = bot
	return bot, err
}

func (*connectFour) describe() description {
	return description{
		bot:      "ConnectFourBot",
		optional: []optional{optionalOf[ResumedPointHandler]()},
	}
}

func (*connectFour) begin(context.Context, *connectfourv1.ConnectFourCall, *callback) error {
	return nil
}

func (g *connectFour) hear(
	ctx context.Context, call *connectfourv1.ConnectFourCall, at *callback,
) (*connectfourv1.ConnectFourAnswer, error) {
	it := call.GetGetPoint()
	if it == nil {
		return nil, nil
	}
	ask := GetPoint{
		M: int(it.M), N: int(it.N), Top: it.Top, Board: it.Board,
		Last:      pointOf(it.LastX, it.LastY),
		Forbidden: pointOf(it.NoX, it.NoY),
	}
	if ask.M < 0 || ask.N < 0 || len(ask.Top) != ask.N || len(ask.Board) != ask.M*ask.N {
		return nil, notACall("%d cells on a board of %d rows, %d columns", len(ask.Board), ask.M, ask.N)
	}
	if past := call.PastAnswer; past != nil {
		if bot, ok := g.bot.(ResumedPointHandler); ok {
			at.name = "ResumedPoint"
			point := past.GetPoint()
			return nil, bot.ResumedPoint(ctx, ask, Point{int(point.GetX()), int(point.GetY())})
		}
		return nil, nil
	}
	at.name = "GetPoint"
	point, err := g.bot.GetPoint(ctx, ask)
	if err != nil {
		return nil, err
	}
	if !is32Bits(point.X) || !is32Bits(point.Y) {
		return nil, at.returned(point, "a Point on the board")
	}
	x, y := int32(point.X), int32(point.Y)
	return &connectfourv1.ConnectFourAnswer{
		Answer: &connectfourv1.ConnectFourAnswer_Point{Point: &connectfourv1.Point{X: &x, Y: &y}},
	}, nil
}

func pointOf(x, y int32) *Point {
	if x < 0 || y < 0 {
		return nil
	}
	return &Point{int(x), int(y)}
}

func is32Bits(number int) bool { return number >= math.MinInt32 && number <= math.MaxInt32 }
