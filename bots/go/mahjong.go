package botarena

import (
	"context"
	"fmt"

	arenav1 "botarena/proto/arena/v1"
	mahjongv1 "botarena/proto/games/mahjong/v1"
)

// A MahjongBot is a bot in one round of Mahjong. It may also be a [RoundHandler], a
// [ResumedDiscardHandler], a [ResumedWinHandler] and a [GameOverHandler].
type MahjongBot interface {
	// GetDraw tells that a tile is in your hand now: one call for each of the 13 at the start, then
	// for each that you draw.
	GetDraw(ctx context.Context, tile Tile) error
	// RequestDiscard asks which tile of your hand you discard. It is out of the hand then.
	RequestDiscard(ctx context.Context) (Tile, error)
	// GetOppDiscard tells that the other seat has discarded a tile.
	GetOppDiscard(ctx context.Context, tile Tile) error
	// RequestWin asks whether you win on this tile, which completes the hand. If you don't, you are
	// told of the tile as of any other.
	RequestWin(ctx context.Context, tile Tile, isSelfDraw bool) (bool, error)
}

// A RoundHandler is told what the round is played by, before everything else.
type RoundHandler interface {
	GetRound(ctx context.Context, round Round) error
}

// A ResumedDiscardHandler is told of what it discarded before, where the stream was opened in the
// middle of a round. The tile is out of the hand then.
type ResumedDiscardHandler interface {
	ResumedDiscard(ctx context.Context, tile Tile) error
}

// A ResumedWinHandler is told of its claims before, where the stream was opened in the middle of a
// round.
type ResumedWinHandler interface {
	ResumedWin(ctx context.Context, tile Tile, isSelfDraw, win bool) error
}

// A Round is what a round is played by.
type Round struct {
	// MissingSuitRequired says that a hand of all three suits can't win.
	MissingSuitRequired bool
	// Wall is how many tiles the wall holds when both hands have been dealt.
	Wall int
}

// A Tile is a kind of tile, of which there are four: 10 * suit + rank, with the suits characters
// (C) 0, bamboos (B) 1, dots (D) 2.
type Tile int32

// The tiles.
const (
	TileC1 Tile = iota + 1
	TileC2
	TileC3
	TileC4
	TileC5
	TileC6
	TileC7
	TileC8
	TileC9
)

// The tiles.
const (
	TileB1 Tile = iota + 11
	TileB2
	TileB3
	TileB4
	TileB5
	TileB6
	TileB7
	TileB8
	TileB9
)

// The tiles.
const (
	TileD1 Tile = iota + 21
	TileD2
	TileD3
	TileD4
	TileD5
	TileD6
	TileD7
	TileD8
	TileD9
)

// Valid tells whether there is such a tile.
func (t Tile) Valid() bool { return t >= TileC1 && t <= TileD9 && t%10 != 0 }

// Suit returns 0 for characters, 1 for bamboos, 2 for dots.
func (t Tile) Suit() int { return int(t) / 10 }

// Rank returns 1 to 9.
func (t Tile) Rank() int { return int(t) % 10 }

// String returns the tile in the notation of the arena: 1c, 9d.
func (t Tile) String() string {
	if !t.Valid() {
		return fmt.Sprintf("Tile(%d)", int32(t))
	}
	return fmt.Sprintf("%d%c", t.Rank(), "cbd"[t.Suit()])
}

// mahjong is one seat in one round.
type mahjong struct {
	new func(context.Context, GameStart) (MahjongBot, error)
	bot MahjongBot
}

type mahjongServer struct {
	mahjongv1.UnimplementedMahjongBotServer
	*server
}

func (s mahjongServer) Play(stream mahjongv1.MahjongBot_PlayServer) error {
	return play(s.server, &mahjong{new: s.bot.Mahjong}, stream)
}

func (*mahjong) envelope(call *mahjongv1.MahjongCall) envelope {
	return envelope{call.Number, call.Limit, call.PastAnswer != nil, call.GetStart(), call.GetOver()}
}

func (*mahjong) ready(ready *arenav1.Ready) *mahjongv1.MahjongAnswer {
	return &mahjongv1.MahjongAnswer{Answer: &mahjongv1.MahjongAnswer_Ready{Ready: ready}}
}

func (*mahjong) number(answer *mahjongv1.MahjongAnswer, number *uint32) { answer.Number = number }

func (g *mahjong) create(ctx context.Context, start GameStart) (any, error) {
	bot, err := g.new(ctx, start)
	g.bot = bot
	return bot, err
}

func (*mahjong) describe() description {
	return description{
		bot: "MahjongBot",
		optional: []optional{
			optionalOf[RoundHandler](),
			optionalOf[ResumedDiscardHandler](),
			optionalOf[ResumedWinHandler](),
		},
	}
}

func (g *mahjong) begin(ctx context.Context, call *mahjongv1.MahjongCall, at *callback) error {
	bot, ok := g.bot.(RoundHandler)
	if !ok || call.Round == nil {
		return nil
	}
	at.name = "GetRound"
	return bot.GetRound(ctx, Round{call.Round.MissingSuitRequired, int(call.Round.Wall)})
}

func (g *mahjong) hear(
	ctx context.Context, call *mahjongv1.MahjongCall, at *callback,
) (*mahjongv1.MahjongAnswer, error) {
	switch it := call.Call.(type) {
	case *mahjongv1.MahjongCall_GetDraw:
		at.name = "GetDraw"
		for _, tile := range it.GetDraw.GetTiles() {
			if err := g.bot.GetDraw(ctx, Tile(tile)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case *mahjongv1.MahjongCall_GetOppDiscard:
		at.name = "GetOppDiscard"
		return nil, g.bot.GetOppDiscard(ctx, Tile(it.GetOppDiscard.GetTile()))
	case *mahjongv1.MahjongCall_RequestDiscard:
		if call.PastAnswer != nil {
			if bot, ok := g.bot.(ResumedDiscardHandler); ok {
				at.name = "ResumedDiscard"
				return nil, bot.ResumedDiscard(ctx, Tile(call.PastAnswer.GetDiscard()))
			}
			return nil, nil
		}
		at.name = "RequestDiscard"
		tile, err := g.bot.RequestDiscard(ctx)
		if err != nil {
			return nil, err
		}
		if !tile.Valid() {
			return nil, at.returned(tile, "a Tile of the hand")
		}
		return &mahjongv1.MahjongAnswer{
			Answer: &mahjongv1.MahjongAnswer_Discard{Discard: mahjongv1.Tile(tile)},
		}, nil
	case *mahjongv1.MahjongCall_RequestWin:
		tile, own := Tile(it.RequestWin.GetWinningTile()), it.RequestWin.GetIsSelfDraw()
		if call.PastAnswer != nil {
			if bot, ok := g.bot.(ResumedWinHandler); ok {
				at.name = "ResumedWin"
				won := call.PastAnswer.GetWin() == mahjongv1.Claim_CLAIM_WIN
				return nil, bot.ResumedWin(ctx, tile, own, won)
			}
			return nil, nil
		}
		at.name = "RequestWin"
		win, err := g.bot.RequestWin(ctx, tile, own)
		if err != nil {
			return nil, err
		}
		claim := mahjongv1.Claim_CLAIM_PASS
		if win {
			claim = mahjongv1.Claim_CLAIM_WIN
		}
		return &mahjongv1.MahjongAnswer{Answer: &mahjongv1.MahjongAnswer_Win{Win: claim}}, nil
	}
	return nil, nil
}
