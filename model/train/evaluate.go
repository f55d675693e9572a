package train

import (
	"context"
	"iter"
	"math"

	"chargpt/data"
	"chargpt/model"
)

// evalCharacters is about how many characters of each part the losses during training are taken over.
const evalCharacters = 20_000

// evalBatch is how many windows are evaluated at once. A loss does not depend on it.
const evalBatch = 8

// Evaluation is what is known of a run at one iteration. Losses are means in nats a character, over fixed subsets of each
// part unless it says otherwise; ValLoss and the baselines are NaN without a validation part.
type Evaluation struct {
	Iteration    int
	TrainLoss    float64
	ValLoss      float64
	UnigramLoss  float64 // baseline: characters by frequency, over the whole validation part
	BigramLoss   float64 // baseline: the Markov chain, over the whole validation part
	LearningRate float64
	Seconds      float64 // of training so far, evaluations included
	Best         bool    // ValLoss is the lowest so far
}

// Bits converts nats to bits.
func Bits(nats float64) float64 { return nats / math.Ln2 }

// meanLoss is the loss over batches of windows, in nats a target. Dropout is off: the graph is no Training graph.
func meanLoss(ctx context.Context, g *model.Graph, batches iter.Seq2[[]int32, []int32]) (float64, error) {
	var sum float64
	var counted int
	for tokens, targets := range batches {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		copy(g.Tokens, tokens)
		copy(g.Targets, targets)
		if err := g.Run(0); err != nil {
			return 0, err
		}
		n := 0
		for _, t := range targets {
			if t != data.NoTarget {
				n++
			}
		}
		sum += float64(g.Loss()) * float64(n)
		counted += n
	}
	return sum / float64(max(counted, 1)), nil
}

// Loss is the model's mean loss over a whole text, in nats a character: consecutive windows of BlockSize, the last
// shorter one included.
func Loss(m *model.Model, t data.Tokens) (loss float64, err error) {
	g, err := m.NewGraph(evalBatch, m.Config.BlockSize, model.Evaluation, 0)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	return meanLoss(context.Background(), g, data.Windows(t, m.Config.BlockSize, evalBatch))
}
