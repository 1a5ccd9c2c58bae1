// {{name}}: a bot for Othello.
package main

import (
	"context"
	"fmt"

	"botarena"
)

// turned returns how many discs a move there turns; 0 where it is not legal.
func turned(board []byte, row, column int) int {
	at := func(row, column int) botarena.Cell {
		if row < 0 || row > 7 || column < 0 || column > 7 {
			return botarena.OffBoard
		}
		return botarena.Cell(board[8*row+column])
	}
	if at(row, column) != botarena.Empty {
		return 0
	}
	count := 0
	for down := -1; down <= 1; down++ {
		for right := -1; right <= 1; right++ {
			steps := 1
			for at(row+steps*down, column+steps*right) == botarena.Opponent {
				steps++
			}
			if at(row+steps*down, column+steps*right) == botarena.Own {
				count += steps - 1
			}
		}
	}
	return count
}

// choose returns a legal move. Your idea goes here: this takes one that turns the most discs.
func choose(board []byte) botarena.Square {
	var best botarena.Square
	most := 0
	for index := range board {
		square := botarena.Square{Row: index / 8, Column: index % 8}
		if count := turned(board, square.Row, square.Column); count > most {
			best, most = square, count
		}
	}
	return best
}

// One value for each game.
type myBot struct{}

func (myBot) RequestMove(_ context.Context, ask botarena.RequestMove) (botarena.Square, error) {
	square := choose(ask.Board)
	fmt.Println("I play", square) // goes into the bot's log
	return square, nil
}

func main() {
	botarena.Bot{
		Name:    "{{name}}",
		Version: "1",
		Othello: func(context.Context, botarena.GameStart) (botarena.OthelloBot, error) {
			return myBot{}, nil
		},
	}.Main()
}
