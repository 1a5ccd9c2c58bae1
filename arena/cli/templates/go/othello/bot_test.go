package main

import (
	"testing"

	"botarena"
)

func TestThreeDiscsAreMoreThanOne(t *testing.T) {
	board := make([]byte, 64)
	board[0] = 2
	for _, index := range []int{1, 2, 3, 8} {
		board[index] = 1
	}
	expected := botarena.Square{Row: 0, Column: 4}
	if got := choose(board); got != expected {
		t.Errorf("chose %v, expected %v", got, expected)
	}
}
