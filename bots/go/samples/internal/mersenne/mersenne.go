// Package mersenne draws from lists as Python's random.Random does, so that a sample in Go plays
// the same moves as the one in Python. A bot of your own needs none of it: use math/rand/v2.
package mersenne

import "math/bits"

const (
	size  = 624
	shift = 397
)

// A Random is the generator MT19937 of Matsumoto and Nishimura.
type Random struct {
	state [size]uint32
	next  int
}

// New makes the generator that Python makes of this seed (init_by_array).
func New(seed uint64) *Random {
	key := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high != 0 {
		key = append(key, high)
	}
	r := &Random{next: size}
	state := &r.state
	state[0] = 19650218
	for i := 1; i < size; i++ {
		state[i] = 1812433253*(state[i-1]^state[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	for range size {
		state[i] = (state[i] ^ (state[i-1]^state[i-1]>>30)*1664525) + key[j] + uint32(j)
		i, j = i+1, (j+1)%len(key)
		if i == size {
			state[0], i = state[size-1], 1
		}
	}
	for range size - 1 {
		state[i] = (state[i] ^ (state[i-1]^state[i-1]>>30)*1566083941) - uint32(i)
		i++
		if i == size {
			state[0], i = state[size-1], 1
		}
	}
	state[0] = 1 << 31
	return r
}

// Choice draws one of a list, each as likely as the others. The list must not be empty.
func Choice[T any](r *Random, from []T) T {
	width := bits.Len(uint(len(from)))
	for {
		if drawn := int(r.uint32() >> (32 - width)); drawn < len(from) {
			return from[drawn]
		}
	}
}

func (r *Random) uint32() uint32 {
	if r.next == size {
		for i := range size {
			mixed := r.state[i]&(1<<31) | r.state[(i+1)%size]&(1<<31-1)
			r.state[i] = r.state[(i+shift)%size] ^ mixed>>1 ^ mixed&1*0x9908b0df
		}
		r.next = 0
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}
