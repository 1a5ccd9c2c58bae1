package mersenne

import (
	"slices"
	"testing"
)

// upTo is 0 to count - 1.
func upTo(count int) []int {
	numbers := make([]int, count)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// The numbers are those of Random(seed).choice(range(n)) in Python.
func TestDrawsAreThoseOfPython(t *testing.T) {
	for _, each := range []struct {
		seed  uint64
		drawn []int
	}{
		{0, []int{0, 1, 0, 2, 7, 12, 50, 38, 61, 366}},
		{1, []int{0, 0, 1, 0, 7, 24, 28, 60, 48, 807}},
		{4294967296, []int{0, 1, 1, 0, 0, 19, 51, 42, 57, 14}},
		{18446744073709551615, []int{0, 0, 1, 4, 3, 14, 39, 12, 47, 786}},
		{1234567890123456789, []int{0, 0, 2, 0, 4, 12, 4, 52, 36, 357}},
	} {
		random := New(each.seed)
		var drawn []int
		for _, count := range []int{1, 2, 3, 7, 8, 27, 54, 64, 65, 1000} {
			drawn = append(drawn, Choice(random, upTo(count)))
		}
		if !slices.Equal(drawn, each.drawn) {
			t.Errorf("seed %d: %v, expected %v", each.seed, drawn, each.drawn)
		}
	}
	random, last := New(5), 0
	for range 1500 {
		last = Choice(random, upTo(1000))
	}
	if last != 479 {
		t.Errorf("the 1500th is %d", last)
	}
}
