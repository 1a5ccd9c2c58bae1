package main

import (
	"slices"
	"testing"

	"botarena"
)

func TestTheLowestCardThatBeatsIsPlayed(t *testing.T) {
	hand := []botarena.Card{botarena.CardS2, botarena.CardH9, botarena.CardC5}
	got := choose(hand, []botarena.Card{botarena.CardD7}, false)
	if !slices.Equal(got, []botarena.Card{botarena.CardH9}) {
		t.Errorf("chose %v, expected 9H", got)
	}
}
