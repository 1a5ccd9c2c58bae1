// Command careful plays Connect Four with care: it wins at once, else keeps the opponent from it,
// else plays near the centre where that does not help the opponent to win. It remembers nothing,
// and plays the same moves as the sample of that name in every language.
package main

import (
	"context"

	"botarena"
)

type careful struct{}

func (careful) GetPoint(_ context.Context, ask botarena.GetPoint) (botarena.Point, error) {
	points := ask.Points()
	if len(points) == 0 {
		return botarena.Point{}, botarena.Errorf("no column has room")
	}
	for _, side := range []botarena.Cell{botarena.Own, botarena.Opponent} {
		for _, point := range points {
			if makesFour(ask, point, side) {
				return point, nil
			}
		}
	}
	var safe []botarena.Point
	for _, point := range points {
		if !helps(ask, point) {
			safe = append(safe, point)
		}
	}
	if safe == nil {
		safe = points
	}
	best := safe[0]
	for _, point := range safe {
		if off(ask, point) < off(ask, best) {
			best = point
		}
	}
	return best, nil
}

// off is how far a point is from the centre, in half columns.
func off(ask botarena.GetPoint, point botarena.Point) int {
	distance := 2*point.Y - (ask.N - 1)
	return max(distance, -distance)
}

// makesFour tells whether this side's stone there would make a line of four or more.
func makesFour(ask botarena.GetPoint, point botarena.Point, side botarena.Cell) bool {
	run := func(dx, dy int) int {
		length := 0
		for ask.Cell(point.X+(length+1)*dx, point.Y+(length+1)*dy) == side {
			length++
		}
		return length
	}
	for _, line := range [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}} {
		if 1+run(line[0], line[1])+run(-line[0], -line[1]) >= 4 {
			return true
		}
	}
	return false
}

// helps tells whether the opponent could win on top of a stone there.
func helps(ask botarena.GetPoint, point botarena.Point) bool {
	above := botarena.Point{X: point.X - 1, Y: point.Y}
	if ask.Forbidden != nil && above == *ask.Forbidden {
		above.X--
	}
	return above.X >= 0 && makesFour(ask, above, botarena.Opponent)
}

func main() {
	botarena.Bot{
		Name:      "careful",
		Version:   "1.0",
		MaxGames:  16,
		CanResume: true,
		ConnectFour: func(context.Context, botarena.GameStart) (botarena.ConnectFourBot, error) {
			return careful{}, nil
		},
	}.Main()
}
