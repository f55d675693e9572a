package sample

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampler chooses the next character from the model's logits: it applies Temperature, then TopK, then TopP. The zero
// value is greedy: the likeliest character, the lower id among equals.
type Sampler struct {
	Temperature float64 // divides the logits; 0 is argmax, 1 the model's own distribution
	TopK        int     // keep the k likeliest characters; 0 is off
	TopP        float64 // keep the likeliest characters that together reach this probability (Holtzman et al. 2020); 1 is off, 0 means 1
}

// Validate reports the first setting that makes no sense, by the name of its flag.
func (s Sampler) Validate() error {
	switch {
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 1):
		return fmt.Errorf("temperature is %v; it must be finite and at least 0", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("top_k is %d; it must be at least 1, or 0 for off", s.TopK)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return fmt.Errorf("top_p is %v; it must be over 0 and at most 1", s.TopP)
	}
	return nil
}

// Candidate is a character that may be drawn, with its probability.
type Candidate struct {
	ID          int32
	Probability float64
}

// Candidates returns the characters that may be drawn, likeliest first (the lower id first among equals), with
// probabilities that sum to 1, in the memory of dst, whose content is lost. There is always at least one. Logits that are
// NaN or +Inf are an error.
func (s Sampler) Candidates(dst []Candidate, logits []float32) ([]Candidate, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(logits) == 0 {
		return nil, fmt.Errorf("sample: no logits")
	}
	dst = dst[:0]
	for id, l := range logits {
		if l != l || math.IsInf(float64(l), 1) {
			return nil, fmt.Errorf("sample: the logit of character %d is %v; the model's weights are damaged or its training diverged", id, l)
		}
		dst = append(dst, Candidate{int32(id), float64(l)}) // a logit, until softmax
	}
	slices.SortFunc(dst, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.ID, b.ID))
	})
	if s.Temperature == 0 {
		dst = dst[:1]
	} else if s.TopK > 0 {
		dst = dst[:min(s.TopK, len(dst))]
	}
	softmax(dst, s.Temperature)
	if s.TopP > 0 && s.TopP < 1 {
		dst = nucleus(dst, s.TopP)
	}
	return dst, nil
}

// softmax turns sorted logits into probabilities. Differences to the largest are divided by the temperature, so that a
// tiny temperature does not overflow; all −Inf counts as all equal.
func softmax(c []Candidate, temperature float64) {
	largest, sum := c[0].Probability, 0.0
	for i := range c {
		d := c[i].Probability - largest
		if c[i].Probability == largest {
			d = 0 // also for −Inf − −Inf
		} else if temperature > 0 {
			d /= temperature
		}
		c[i].Probability = math.Exp(d)
		sum += c[i].Probability
	}
	for i := range c {
		c[i].Probability /= sum
	}
}

// nucleus keeps the shortest head of sorted candidates whose probabilities reach p, and rescales it to sum to 1.
func nucleus(c []Candidate, p float64) []Candidate {
	sum := 0.0
	for i := range c {
		if sum += c[i].Probability; sum >= p {
			c = c[:i+1]
			break
		}
	}
	for i := range c {
		c[i].Probability /= sum
	}
	return c
}

// draw picks a candidate by u, a uniform random number in [0, 1).
func draw(c []Candidate, u float64) Candidate {
	last := c[0]
	for _, x := range c {
		if x.Probability > 0 {
			last = x
		}
		if u -= x.Probability; u < 0 {
			break
		}
	}
	return last // also where rounding left the sum a little under 1
}

// stream returns the random numbers of sample i of a seed: they depend on the two alone.
func stream(seed uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0x73616d706c650000+uint64(i))) // "sample"
}
