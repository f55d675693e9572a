package optim

import "math"

// Schedule is nanoGPT's learning rate: a linear warm-up, then a cosine from Max to Min.
type Schedule struct {
	Max, Min float64
	Warmup   int // iterations
	Total    int // iterations, warm-up included
}

// At returns the learning rate of iteration i, counted from 0.
func (s Schedule) At(i int) float64 {
	if i < s.Warmup {
		return s.Max * float64(i+1) / float64(s.Warmup+1)
	}
	return s.cosine(float64(i-s.Warmup) / float64(max(1, s.Total-s.Warmup)))
}

// AtFraction is the learning rate of iteration i of a run whose length is a time, of which a fraction from 0 to 1 is over:
// the warm-up counts iterations, the cosine follows the time.
func (s Schedule) AtFraction(i int, fraction float64) float64 {
	if i < s.Warmup {
		return s.At(i)
	}
	return s.cosine(fraction)
}

// cosine goes from Max at progress 0 to Min at 1.
func (s Schedule) cosine(progress float64) float64 {
	return s.Min + 0.5*(1+math.Cos(math.Pi*min(1, progress)))*(s.Max-s.Min)
}
