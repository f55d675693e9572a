package train

import "chargpt/model"

// MaxMemory is the largest [Memory] that a trainer is worth starting for, in bytes: more than that is a mistake in a flag.
const MaxMemory = 32e9

// Memory is about how many bytes training takes: parameters with gradients and moments, and the activations of a batch and
// of the windows that are evaluated at once.
func Memory(c model.Config, o Options) float64 {
	c = c.WithDefaults()
	channels, heads := float64(c.NEmbd), float64(c.NHead)*float64(c.HeadSize)
	layer := 6*channels + 4*heads + float64(c.NHead)*float64(c.BlockSize) // numbers a token
	matrices := 4 * channels * heads
	if !c.AttnOnly {
		layer += 8 * channels
		matrices += 8 * channels * channels
	}
	token := float64(c.NLayer)*layer + 12*channels + 3*heads + 3*float64(c.VocabSize)
	sequences := min(float64(o.BatchSize), 2*max(1, 512/float64(c.BlockSize))) // that are in work at once: model.Batch
	tokens := (sequences + evalBatch) * float64(c.BlockSize)
	parameters := float64(c.NLayer)*matrices + channels*(2*float64(c.VocabSize)+float64(c.BlockSize))
	batch := 2 * float64(o.BatchSize) * float64(c.BlockSize) // tokens and targets of all sequences
	return 4 * (5*parameters + tokens*token + batch)
}
