package main

import (
	"slices"

	"botarena"
)

// squares returns every legal move of Othello.
func squares(board []byte) []botarena.Square {
	var found []botarena.Square
	for row := range 8 {
		for column := range 8 {
			if turns(board, row, column) {
				found = append(found, botarena.Square{Row: row, Column: column})
			}
		}
	}
	return found
}

// turns tells whether one's own disc there encloses some of the opponent's.
func turns(board []byte, row, column int) bool {
	cell := func(row, column int) botarena.Cell {
		if row < 0 || row > 7 || column < 0 || column > 7 {
			return botarena.OffBoard
		}
		return botarena.Cell(board[8*row+column])
	}
	if cell(row, column) != botarena.Empty {
		return false
	}
	for down := -1; down <= 1; down++ {
		for right := -1; right <= 1; right++ {
			steps := 1
			for cell(row+steps*down, column+steps*right) == botarena.Opponent {
				steps++
			}
			if steps > 1 && cell(row+steps*down, column+steps*right) == botarena.Own {
				return true
			}
		}
	}
	return false
}

// plays returns legal plays of Big Two: singles, pairs, threes and fours of a sorted hand, without
// jokers that stand in for other cards and without straight flushes. A pass is nil.
func plays(hand []botarena.Card, ask botarena.RequestPlay) [][]botarena.Card {
	key := func(card botarena.Card) int {
		if ask.Reversed && !card.IsJoker() {
			return 12 - card.Rank()
		}
		return card.Rank()
	}
	counts, least := []int{1, 2, 3, 4}, 0
	if len(ask.ToBeat) > 0 {
		// A joker that stands in for a card has no rank of its own.
		weakest := slices.Min(ask.ToBeat)
		counts, least = []int{len(ask.ToBeat)}, key(weakest)+1
		for _, card := range ask.ToBeat {
			if !card.IsJoker() && card.Rank() != weakest.Rank() {
				// It is a straight flush, on which nothing here can go.
				counts = nil
			}
		}
	}
	var found [][]botarena.Card
	for first := 0; first < len(hand); {
		end := first + 1
		for end < len(hand) && hand[end].Rank() == hand[first].Rank() {
			end++
		}
		if key(hand[first]) >= least {
			for _, count := range counts {
				found = append(found, combinations(hand[first:end], count)...)
			}
		}
		first = end
	}
	if ask.MustIncludeThreeOfClubs {
		return slices.DeleteFunc(found, func(cards []botarena.Card) bool {
			return !slices.Contains(cards, botarena.CardC3)
		})
	}
	if len(ask.ToBeat) > 0 {
		found = append(found, nil)
	}
	return found
}

// combinations returns all choices of so many cards, in lexicographic order.
func combinations(cards []botarena.Card, count int) [][]botarena.Card {
	if count == 0 {
		return [][]botarena.Card{nil}
	}
	var found [][]botarena.Card
	for at := range cards {
		for _, rest := range combinations(cards[at+1:], count-1) {
			found = append(found, append([]botarena.Card{cards[at]}, rest...))
		}
	}
	return found
}
