package f32

import "math"

// Softmax computes one row of weights dst = exp(x − max x) / Σ exp(x − max x).
// dst may be x. A NaN or +Inf in x makes the whole row NaN.
func Softmax(dst, x []float32) {
	if len(x) > 0 {
		softmax(take(dst, len(x)), x)
	}
}

// SoftmaxBackward computes one row of the gradient of the scores from the weights
// p and their gradient dp: ds = p∘(dp − Σ p·dp). dscores may be dweights.
func SoftmaxBackward(dscores, weights, dweights []float32) {
	n := len(weights)
	softmaxBackward(take(dscores, n), weights, take(dweights, n))
}

// CrossEntropy writes probs = softmax(logits) and returns the loss of one position,
// −log p[target] = log Σ exp(logits) − logits[target]. probs may be logits.
// The target −1 means that the position does not count: the loss is then 0.
func CrossEntropy(probs, logits []float32, target int32) float64 {
	if target == -1 {
		Softmax(probs, logits)
		return 0
	}
	logit := float64(logits[target]) // read first: probs may overwrite it
	top, sum := softmax(take(probs, len(logits)), logits)
	return float64(top) + math.Log(float64(sum)) - logit
}
