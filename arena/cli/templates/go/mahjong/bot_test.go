package main

import (
	"testing"

	"botarena"
)

func TestATileAloneIsDiscarded(t *testing.T) {
	hand := []botarena.Tile{
		botarena.TileC1, botarena.TileC2, botarena.TileC3, botarena.TileB5, botarena.TileD7, botarena.TileD7,
	}
	if got := choose(hand); got != botarena.TileB5 {
		t.Errorf("chose %v, expected %v", got, botarena.TileB5)
	}
}
