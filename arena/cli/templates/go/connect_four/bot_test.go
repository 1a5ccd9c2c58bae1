package main

import (
	"testing"

	"botarena"
)

func TestTheMiddleComesFirst(t *testing.T) {
	points := []botarena.Point{{X: 8, Y: 0}, {X: 7, Y: 4}, {X: 8, Y: 8}}
	if got := choose(points, 9); got != points[1] {
		t.Errorf("chose %v, expected %v", got, points[1])
	}
}
