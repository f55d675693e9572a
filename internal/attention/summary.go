package attention

import "math"

// Summary says in six numbers what a head looks at. Write w(i,j) for the weight of query i onto key j, j ≤ i, and T for
// the number of tokens. Each number is a mean over the queries 1 to T-1: query 0 is left out, because it has no choice (its
// only key is itself) and would pull every head towards the same values. With T = 1 there is no query left and all are 0.
type Summary struct {
	Entropy      float64 `json:"entropy"`       // −Σ_j w(i,j) ln w(i,j), in nats: 0 is one key, ln(i+1) all alike
	MeanDistance float64 `json:"mean_distance"` // Σ_j w(i,j)·(i−j), in characters
	Previous     float64 `json:"previous"`      // w(i,i−1), the share on the character before the query
	First        float64 `json:"first"`         // w(i,0), the share on the first character of the context
	Same         float64 `json:"same"`          // Σ_j w(i,j) over the earlier j < i that hold the query's own character
	Self         float64 `json:"self"`          // w(i,i), the share on the query itself, which Same does not count
}

// Summarise measures a head over its tokens; it reads h.Weights only, which must be (T, T).
// For a mean of heads every number but the entropy is the mean of theirs; the entropy is that of the mean weights.
func Summarise(h Head, tokens []int32) Summary {
	n := len(tokens)
	var s Summary
	if n < 2 {
		return s
	}
	for i := 1; i < n; i++ {
		row := h.Weights[i*n : i*n+i+1]
		s.Previous += float64(row[i-1])
		s.First += float64(row[0])
		s.Self += float64(row[i])
		for j, w := range row {
			s.addKey(float64(w), i-j, tokens[i] == tokens[j])
		}
	}
	return s.scale(1 / float64(n-1))
}

func (s *Summary) addKey(w float64, distance int, same bool) {
	if w > 0 {
		s.Entropy -= w * math.Log(w)
	}
	s.MeanDistance += w * float64(distance)
	if same && distance > 0 {
		s.Same += w
	}
}

func (s Summary) scale(by float64) Summary {
	return Summary{s.Entropy * by, s.MeanDistance * by, s.Previous * by, s.First * by, s.Same * by, s.Self * by}
}
