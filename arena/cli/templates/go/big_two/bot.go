// {{name}}: a bot for Reversal Big Two.
package main

import (
	"context"
	"fmt"
	"slices"

	"botarena"
)

// choose returns what to play; nil is a pass. Your idea goes here: this plays the lowest single
// card that it can, and passes where several cards are to be beaten or the order is reversed.
func choose(hand, toBeat []botarena.Card, reversed bool) []botarena.Card {
	if len(toBeat) == 0 {
		// With the three of clubs, where that must be played.
		return []botarena.Card{slices.Min(hand)}
	}
	if len(toBeat) > 1 || reversed {
		return nil
	}
	for _, card := range slices.Sorted(slices.Values(hand)) {
		if card.Rank() > toBeat[0].Rank() {
			return []botarena.Card{card}
		}
	}
	return nil
}

// One value for each game.
type myBot struct{ hand []botarena.Card }

func (b *myBot) GetDeal(_ context.Context, cards []botarena.Card) error {
	b.hand = slices.Clone(cards)
	return nil
}

func (b *myBot) GetPlay(context.Context, botarena.GetPlay) error { return nil }

func (b *myBot) RequestPlay(_ context.Context, ask botarena.RequestPlay) ([]botarena.Card, error) {
	cards := choose(b.hand, ask.ToBeat, ask.Reversed)
	b.hand = slices.DeleteFunc(b.hand, func(card botarena.Card) bool {
		return slices.Contains(cards, card)
	})
	fmt.Println("I play", cards) // goes into the bot's log
	return cards, nil
}

func main() {
	botarena.Bot{
		Name:    "{{name}}",
		Version: "1",
		BigTwo: func(context.Context, botarena.GameStart) (botarena.BigTwoBot, error) {
			return &myBot{}, nil
		},
	}.Main()
}
