package optim

// ClipScale is the factor that brings gradients of the given norm to at most maxNorm (Pascanu et al. 2013, algorithm 1);
// maxNorm 0 is off. The small constant is PyTorch's.
func ClipScale(norm, maxNorm float64) float64 {
	if maxNorm <= 0 {
		return 1
	}
	return min(1, maxNorm/(norm+1e-6))
}
