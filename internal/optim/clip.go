package optim

import (
	"math"

	"chargpt/internal/f32"
)

// normUnit is how many elements one partial sum of the norm covers: fixed, so that the sum's order is.
const normUnit = 1 << 14

// GlobalNorm is the Euclidean norm of all gradients together. It is NaN or infinite if one of them is.
func GlobalNorm(grads []float32) float64 {
	var sum float64
	for lo := 0; lo < len(grads); lo += normUnit {
		sum += f32.SumSquares(grads[lo:min(lo+normUnit, len(grads))])
	}
	return math.Sqrt(sum)
}

// ClipScale is the factor that brings gradients of the given norm to at most maxNorm (Pascanu et al. 2013, algorithm 1);
// maxNorm 0 is off. The small constant is PyTorch's.
func ClipScale(norm, maxNorm float64) float64 {
	if maxNorm <= 0 {
		return 1
	}
	return min(1, maxNorm/(norm+1e-6))
}
