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
	progress := min(1, float64(i-s.Warmup)/float64(max(1, s.Total-s.Warmup)))
	return s.Min + 0.5*(1+math.Cos(math.Pi*progress))*(s.Max-s.Min)
}
