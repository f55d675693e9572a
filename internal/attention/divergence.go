package attention

import "math"

// KL is the Kullback-Leibler divergence Σ p ln(p/q) in nats: how much the model's distribution p tells about the next
// character that q, such as the Markov chain's, does not. It is 0 only if they are equal, and +Inf if p has a character that
// q rules out. p and q have the same length.
func KL(p []float32, q []float64) (nats float64) {
	for i, x := range p {
		if x > 0 {
			nats += float64(x) * math.Log(float64(x)/q[i])
		}
	}
	return max(0, nats) // rounding can leave a tiny negative number for equal distributions
}

// Bits converts nats to bits: one bit is ln 2 nats.
func Bits(nats float64) float64 { return nats / math.Ln2 }

// TotalVariation is ½ Σ |p − q|: the share of the probability that would have to move to make p into q, from 0 to 1.
func TotalVariation(p, q []float32) float64 {
	sum := 0.0
	for i := range p {
		sum += math.Abs(float64(p[i]) - float64(q[i]))
	}
	return sum / 2
}
