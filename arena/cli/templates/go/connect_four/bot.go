// {{name}}: a bot for Connect Four.
package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"botarena"
)

// choose returns one of the points that can be played. Your idea goes here: this takes the one
// nearest to the middle.
func choose(points []botarena.Point, columns int) botarena.Point {
	fromMiddle := func(point botarena.Point) int { return max(2*point.Y-(columns-1), (columns-1)-2*point.Y) }
	return slices.MinFunc(points, func(a, b botarena.Point) int {
		return cmp.Compare(fromMiddle(a), fromMiddle(b))
	})
}

// One value for each game.
type myBot struct{}

func (myBot) GetPoint(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
	// ask has the whole position, as in ask.Cell(x, y); the context has the time limit.
	point := choose(ask.Points(), ask.N)
	fmt.Println("I play", point) // goes into the bot's log
	return point, nil
}

func main() {
	botarena.Bot{
		Name:    "{{name}}",
		Version: "1",
		ConnectFour: func(context.Context, botarena.GameStart) (botarena.ConnectFourBot, error) {
			return myBot{}, nil
		},
	}.Main()
}
