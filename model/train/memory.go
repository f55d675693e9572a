package train

import "chargpt/model"

// absurdMemory is more than any run of this program is worth, in bytes: a mistake in a flag.
const absurdMemory = 32e9

// Memory is about how many bytes training takes: parameters with what belongs to each, and the activations of a batch and
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
	tokens := float64(model.SequencesAtWork(o.BatchSize, c.BlockSize)+evalBatch) * float64(c.BlockSize)
	parameters := float64(c.NLayer)*matrices + channels*(2*float64(c.VocabSize)+float64(c.BlockSize))
	batch := 2 * float64(o.BatchSize) * float64(c.BlockSize) // tokens and targets of all sequences
	return ParameterMemory*parameters + 4*(tokens*token+batch)
}

// ParameterMemory is how many bytes training takes for each parameter: itself, two gradients that are added, two moments,
// and the best value so far.
const ParameterMemory = 6 * 4
