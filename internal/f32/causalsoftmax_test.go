package f32

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachCausalStrip runs f over strips of every height that attention cuts, and over those that the kernels do not take.
func eachCausalStrip(f func(m, first, ld int)) {
	r := newRand()
	for _, m := range []int{1, 2, 3, 4, 7, 8, 10, 16, 17, 32, 48, 63, 64, 96, 104} {
		for _, first := range []int{0, 1, 6, 8, 24, 32, 96, 192} {
			f(m, first, first+m+choose(r, 0, 0, 1, 7, 96))
		}
	}
	f(96, 416, 520) // three calls of the kernel
	if !slow() {
		f(64, 20000, 20064) // a call for two rows
	}
}

// causalStrip is a guarded strip of scores, with what must not count above the diagonal.
func causalStrip(r *rand.Rand, m, first, ld int) guarded {
	s := newGuarded(normal(r, (m-1)*ld+first+m, 3))
	for i := range m {
		above := s.s[i*ld+first+i+1 : i*ld+first+m]
		for j := range above {
			above[j] = choose(r, nan, inf, -inf, 1e30)
		}
	}
	return s
}

// The kernels give the bits of one row after the other, and write nothing between rows; rows are those of the formula and of
// the portable twin, to rounding.
func TestCausalSoftmax(t *testing.T) {
	r := newRand()
	eachCausalStrip(func(m, first, ld int) {
		name := fmt.Sprintf("CausalSoftmax, m=%d first=%d ld=%d", m, first, ld)
		s := causalStrip(r, m, first, ld)
		want, scores := slices.Clone(s.s), slices.Clone(s.s)
		CausalSoftmax(m, first, s.s, ld)
		causalSoftmaxRows(m, first, want, ld)
		sameBits(t, name, s.s, want)
		s.check(t, name)
		rel := 2e-6 + 3e-10*float64(first+m)
		for i := range m {
			x := scores[i*ld:][:first+i+1]
			formula, _ := softmaxFormula(x)
			twin := make([]float32, len(x))
			softmaxPortable(twin, x)
			for j, p := range formula {
				near(t, name, i*ld+j, s.s[i*ld+j], p, rel, 1e-12)
				near(t, name+", against portable", i*ld+j, s.s[i*ld+j], float64(twin[j]), rel, 1e-12)
			}
		}
	})
}

func TestCausalSoftmaxBackward(t *testing.T) {
	r := newRand()
	eachCausalStrip(func(m, first, ld int) {
		name := fmt.Sprintf("CausalSoftmaxBackward, m=%d first=%d ld=%d", m, first, ld)
		ldw := ld + choose(r, 0, 3, 8)
		w := newGuarded(normal(r, (m-1)*ldw+first+m, 3))
		CausalSoftmax(m, first, w.s, ldw)
		weights := slices.Clone(w.s)
		s := causalStrip(r, m, first, ld)
		want, dp := slices.Clone(s.s), slices.Clone(s.s)
		CausalSoftmaxBackward(m, first, s.s, ld, w.s, ldw)
		causalSoftmaxBackwardRows(m, first, want, ld, w.s, ldw)
		sameBits(t, name, s.s, want)
		s.check(t, name)
		w.check(t, name+", W")
		sameBits(t, name+", W", w.s, weights)
		for i := range m {
			p, d := weights[i*ldw:][:first+i+1], dp[i*ld:][:first+i+1]
			twin := make([]float32, len(p))
			softmaxBackwardPortable(twin, p, d)
			dot, size := 0.0, 0.0
			for j := range p {
				dot += float64(p[j]) * float64(d[j])
				size = max(size, abs64(d[j]))
			}
			for j := range p {
				near(t, name, i*ld+j, s.s[i*ld+j], float64(p[j])*(float64(d[j])-dot), 1e-5, 1e-6*size*float64(p[j])+1e-30)
				near(t, name+", against portable", i*ld+j, s.s[i*ld+j], float64(twin[j]), 1e-5, 2e-6*size*float64(p[j])+1e-30)
			}
		}
	})
}

func abs64(x float32) float64 { return max(float64(x), -float64(x)) }

// Rows that are all very negative or very large have the weights of the formula too.
func TestCausalSoftmaxFar(t *testing.T) {
	const m, first, ld = 16, 8, 24
	for _, offset := range []float32{-3e30, -2e5, -200, 200, 3e30} {
		s := normal(newRand(), m*ld, 1)
		for i := range s {
			s[i] += offset
		}
		scores := slices.Clone(s)
		CausalSoftmax(m, first, s, ld)
		for i := range m {
			want, _ := softmaxFormula(scores[i*ld:][:first+i+1])
			for j, p := range want {
				near(t, fmt.Sprintf("scores around %v", offset), i*ld+j, s[i*ld+j], p, 1e-5, 1e-12)
			}
		}
	}
}

// A NaN or +Inf poisons its row and no other, whichever of a pair it is in.
func TestCausalSoftmaxSpecials(t *testing.T) {
	const m, first, ld = 24, 8, 32
	for row := range m {
		for _, column := range []int{0, first + row/2, first + row} {
			for _, bad := range []float32{nan, inf} {
				s := normal(newRand(), m*ld, 1)
				w := slices.Clone(s)
				CausalSoftmax(m, first, w, ld)
				d := slices.Clone(s)
				s[row*ld+column], d[row*ld+column] = bad, bad
				CausalSoftmax(m, first, s, ld)
				CausalSoftmaxBackward(m, first, d, ld, w, ld)
				for _, x := range [][]float32{s, d} {
					for i := range m {
						for j, v := range x[i*ld:][:first+i+1] {
							if finite := !isNaN(v) && v < inf && v > -inf; finite == (i == row) {
								t.Fatalf("%v at [%d,%d]: [%d,%d] = %v", bad, row, column, i, j, v)
							}
						}
						for j, v := range x[i*ld+first+i+1 : i*ld+first+m] {
							if v != 0 {
								t.Fatalf("%v at [%d,%d]: %v, %d columns above the diagonal in row %d", bad, row, column, v, j+1, i)
							}
						}
					}
				}
			}
		}
	}
}
