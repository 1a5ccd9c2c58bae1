// Command random plays all four games at random. What it draws follows from the game's BotSeed, so
// it repeats itself, also where it is resumed mid-game; it plays the same moves as the sample of
// that name in Python.
package main

import (
	"context"
	"slices"

	"botarena"
	"botarena/samples/internal/mersenne"
)

type connectFour struct{ random *mersenne.Random }

func (b connectFour) GetPoint(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
	return mersenne.Choice(b.random, ask.Points()), nil
}

func (b connectFour) ResumedPoint(
	_ context.Context, ask botarena.GetPoint, _ botarena.Point,
) error {
	mersenne.Choice(b.random, ask.Points())
	return nil
}

type othello struct{ random *mersenne.Random }

func (b othello) RequestMove(
	_ context.Context, ask botarena.RequestMove,
) (botarena.Square, error) {
	return mersenne.Choice(b.random, squares(ask.Board)), nil
}

func (b othello) ResumedMove(
	_ context.Context, ask botarena.RequestMove, _ botarena.Square,
) error {
	mersenne.Choice(b.random, squares(ask.Board))
	return nil
}

type mahjong struct {
	random *mersenne.Random
	hand   []botarena.Tile
}

func (b *mahjong) GetDraw(_ context.Context, tile botarena.Tile) error {
	b.hand = append(b.hand, tile)
	return nil
}

func (b *mahjong) RequestDiscard(context.Context) (botarena.Tile, error) {
	tile := mersenne.Choice(b.random, b.hand)
	return tile, b.discard(tile)
}

func (b *mahjong) ResumedDiscard(_ context.Context, tile botarena.Tile) error {
	mersenne.Choice(b.random, b.hand)
	return b.discard(tile)
}

func (b *mahjong) discard(tile botarena.Tile) error {
	at := slices.Index(b.hand, tile)
	if at < 0 {
		return botarena.Errorf("%v is not in the hand %v", tile, b.hand)
	}
	b.hand = slices.Delete(b.hand, at, at+1)
	return nil
}

func (b *mahjong) GetOppDiscard(context.Context, botarena.Tile) error { return nil }

func (b *mahjong) RequestWin(context.Context, botarena.Tile, bool) (bool, error) {
	return true, nil
}

type bigTwo struct {
	random *mersenne.Random
	seat   int
	hand   []botarena.Card
}

func (b *bigTwo) GetDeal(_ context.Context, cards []botarena.Card) error {
	b.hand = slices.Sorted(slices.Values(cards))
	return nil
}

// GetPlay is told of the bot's own plays too, also when it is resumed.
func (b *bigTwo) GetPlay(_ context.Context, play botarena.GetPlay) error {
	if play.Seat == b.seat {
		b.hand = slices.DeleteFunc(b.hand, func(card botarena.Card) bool {
			return slices.Contains(play.Cards, card)
		})
	}
	return nil
}

func (b *bigTwo) RequestPlay(
	_ context.Context, ask botarena.RequestPlay,
) ([]botarena.Card, error) {
	return mersenne.Choice(b.random, plays(b.hand, ask)), nil
}

func (b *bigTwo) ResumedPlay(
	_ context.Context, ask botarena.RequestPlay, _ []botarena.Card,
) error {
	mersenne.Choice(b.random, plays(b.hand, ask))
	return nil
}

func main() {
	botarena.Bot{
		Name:      "random",
		Version:   "1.0",
		MaxGames:  16,
		CanResume: true,
		ConnectFour: func(_ context.Context, start botarena.GameStart) (botarena.ConnectFourBot, error) {
			return connectFour{mersenne.New(start.BotSeed)}, nil
		},
		Othello: func(_ context.Context, start botarena.GameStart) (botarena.OthelloBot, error) {
			return othello{mersenne.New(start.BotSeed)}, nil
		},
		Mahjong: func(_ context.Context, start botarena.GameStart) (botarena.MahjongBot, error) {
			return &mahjong{random: mersenne.New(start.BotSeed)}, nil
		},
		BigTwo: func(_ context.Context, start botarena.GameStart) (botarena.BigTwoBot, error) {
			return &bigTwo{random: mersenne.New(start.BotSeed), seat: start.Seat}, nil
		},
	}.Main()
}
