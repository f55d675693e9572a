package f32

import "math"

// AdamWStep holds the numbers of one step of AdamW. Step counts from 1, and the
// gradient is multiplied by GradScale before anything else (1 leaves it as it is,
// a smaller value clips it, 0 throws it away).
type AdamWStep struct {
	LearningRate, Beta1, Beta2, Eps, WeightDecay, GradScale float64
	Step                                                    int
}

// adamWConstants are a step's numbers as the kernels use them, in the order that the assembly reads them in.
type adamWConstants struct {
	gradScale  float32
	beta1      float32
	oneMinus1  float32 // 1 − Beta1
	beta2      float32
	oneMinus2  float32 // 1 − Beta2
	rate       float32 // LearningRate/(1 − Beta1^Step)
	unbiasRoot float32 // 1/√(1 − Beta2^Step)
	eps        float32
	decay      float32 // 1 − LearningRate·WeightDecay
}

func (s AdamWStep) constants() adamWConstants {
	t := float64(s.Step)
	return adamWConstants{
		gradScale:  float32(s.GradScale),
		beta1:      float32(s.Beta1),
		oneMinus1:  float32(1 - s.Beta1),
		beta2:      float32(s.Beta2),
		oneMinus2:  float32(1 - s.Beta2),
		rate:       float32(s.LearningRate / (1 - math.Pow(s.Beta1, t))),
		unbiasRoot: float32(1 / math.Sqrt(1-math.Pow(s.Beta2, t))),
		eps:        float32(s.Eps),
		decay:      float32(1 - s.LearningRate*s.WeightDecay),
	}
}

// AdamW updates the weights w and their moments m and v from the gradient g, as
// PyTorch does, with t = Step:
//
//	m = Beta1·m + (1 − Beta1)·g
//	v = Beta2·v + (1 − Beta2)·g²
//	w = w − LearningRate·WeightDecay·w − LearningRate·m̂/(√v̂ + Eps)
//	m̂ = m/(1 − Beta1^t), v̂ = v/(1 − Beta2^t)
func AdamW(w, g, m, v []float32, s AdamWStep) {
	n := len(w)
	c := s.constants()
	adamW(w, take(g, n), take(m, n), take(v, n), &c)
}

func adamWPortable(w, g, m, v []float32, c *adamWConstants) {
	for i, grad := range g {
		grad *= c.gradScale
		m[i] = c.beta1*m[i] + c.oneMinus1*grad
		v[i] = c.beta2*v[i] + c.oneMinus2*grad*grad
		root := float32(math.Sqrt(float64(v[i])))
		w[i] = c.decay*w[i] - c.rate*m[i]/(root*c.unbiasRoot+c.eps)
	}
}
