// {{name}}: a bot for Mahjong.
package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"botarena"
)

// choose returns the tile to discard. Your idea goes here: this takes the one with the fewest
// neighbours in the hand. A tile is the number 10 * suit + rank.
func choose(hand []botarena.Tile) botarena.Tile {
	neighbours := func(tile botarena.Tile) (count int) {
		for _, other := range hand {
			if other-tile >= -1 && other-tile <= 1 {
				count++
			}
		}
		return count
	}
	return slices.MinFunc(hand, func(a, b botarena.Tile) int {
		return cmp.Compare(neighbours(a), neighbours(b))
	})
}

// One value for each game.
type myBot struct{ hand []botarena.Tile }

func (b *myBot) GetDraw(_ context.Context, tile botarena.Tile) error {
	b.hand = append(b.hand, tile)
	return nil
}

func (b *myBot) RequestDiscard(context.Context) (botarena.Tile, error) {
	tile := choose(b.hand)
	at := slices.Index(b.hand, tile)
	b.hand = slices.Delete(b.hand, at, at+1)
	fmt.Println("I discard", tile) // goes into the bot's log
	return tile, nil
}

func (b *myBot) GetOppDiscard(context.Context, botarena.Tile) error { return nil }

func (b *myBot) RequestWin(context.Context, botarena.Tile, bool) (bool, error) { return true, nil }

func main() {
	botarena.Bot{
		Name:    "{{name}}",
		Version: "1",
		Mahjong: func(context.Context, botarena.GameStart) (botarena.MahjongBot, error) {
			return &myBot{}, nil
		},
	}.Main()
}
