package optim

import "chargpt/internal/f32"

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2):
//
//	m = β₁ m + (1−β₁) g        v = β₂ v + (1−β₂) g²
//	w = w − lr·λ·w − lr · (m / (1−β₁ᵗ)) / (√(v / (1−β₂ᵗ)) + ε)
type AdamW struct {
	Beta1, Beta2, Eps float64
	WeightDecay       float64 // λ
	Threads           int
}

// updateUnit is how many elements one goroutine updates at least.
const updateUnit = 1 << 14

// Step updates w from its gradient times gradScale, at step t (from 1). All slices have the same length; decay says
// whether weight decay applies to this range.
func (a AdamW) Step(w, grad, m, v []float32, lr, gradScale float64, t int, decay bool) {
	s := f32.AdamWStep{LearningRate: lr, Beta1: a.Beta1, Beta2: a.Beta2, Eps: a.Eps, GradScale: gradScale, Step: t}
	if decay {
		s.WeightDecay = a.WeightDecay
	}
	units := (len(w) + updateUnit - 1) / updateUnit
	f32.ForRange(a.Threads, units, func(lo, hi, _ int) {
		from, to := lo*updateUnit, min(hi*updateUnit, len(w))
		f32.AdamW(w[from:to], grad[from:to], m[from:to], v[from:to], s)
	})
}
