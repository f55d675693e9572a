package model

import (
	"fmt"

	"chargpt/internal/ops"

	"gorgonia.org/gorgonia"
)

// Mode is what a [Graph] computes.
type Mode int

const (
	Inference  Mode = iota // logits and attention weights
	Evaluation             // and the loss
	Training               // and the gradients, with dropout
	lastOnly               // the logits of each sequence's last token, (B, V), and no others: for a Decoder
)

// Graph is a model's computation graph for batches of B sequences of T tokens. Write Tokens (and Targets), call
// [Graph.Run], and read what it computed: the slices that its methods return are overwritten by the next run.
type Graph struct {
	B, T    int
	Tokens  []int32 // (B·T), ids of the characters
	Targets []int32 // (B·T), ids of the characters that follow, −1 to ignore; nil for Inference

	machine *ops.Machine
	random  *ops.Random
	gpt     *gpt
	logits  *gorgonia.Node
	loss    *gorgonia.Node
}

// NewGraph builds and compiles the graph for B sequences of T tokens, T at most BlockSize. A Training graph writes the
// memory behind [Parameter.Grad]; seed drives its dropout masks. Close the graph after use.
func (m *Model) NewGraph(batch, t int, mode Mode, seed uint64) (*Graph, error) {
	if mode == Training {
		m.makeGradients()
	}
	return m.newGraph(batch, t, mode, seed, m.Threads, m.grads)
}

// newGraph lets a Training graph write its gradients into grads, laid out as the parameters are.
func (m *Model) newGraph(batch, t int, mode Mode, seed uint64, threads int, grads []float32) (graph *Graph, err error) {
	if err := m.checkShape(batch, t); err != nil {
		return nil, err
	}
	defer recoverTo(&err)
	g := &Graph{B: batch, T: t, Tokens: make([]int32, batch*t), random: &ops.Random{Seed: seed}}
	g.gpt = m.newGPT(batch, t, ops.NewBuilder(threads, g.random))
	g.gpt.tokens = g.gpt.InputIDs("tokens", g.Tokens)
	g.gpt.positions = g.gpt.InputIDs("positions", positions(batch, t))
	if mode == Training {
		g.gpt.dropout = m.Config.Dropout
	}
	g.gpt.lastOnly = mode == lastOnly
	g.logits = g.gpt.forward()
	if mode == Evaluation || mode == Training {
		g.Targets = make([]int32, batch*t)
		g.loss = g.gpt.CrossEntropy(g.logits, g.gpt.InputIDs("targets", g.Targets))
	}
	if mode == Training {
		if err := m.addGradients(g, grads); err != nil {
			return nil, err
		}
	}
	if err := g.gpt.Err(); err != nil {
		return nil, err
	}
	g.machine, err = ops.NewMachine(g.gpt.Graph)
	return g, err
}

func (m *Model) checkShape(batch, t int) error {
	if batch < 1 || t < 1 || t > m.Config.BlockSize {
		return fmt.Errorf("model: a graph of %d sequences of %d tokens; there must be at least one of each, and at most block_size %d tokens", batch, t, m.Config.BlockSize)
	}
	return nil
}

func (m *Model) newGPT(batch, t int, b *ops.Builder) *gpt {
	return &gpt{Builder: b, model: m, nodes: map[string]*gorgonia.Node{}, batch: batch, t: t}
}

// positions is 0, 1, … T−1 for each sequence.
func positions(batch, t int) []int32 {
	p := make([]int32, batch*t)
	for i := range p {
		p[i] = int32(i % t)
	}
	return p
}

// makeGradients makes the memory behind [Parameter.Grad]: one flat piece, laid out as the parameters are, for the
// optimizer to pass over once.
func (m *Model) makeGradients() {
	if m.grads != nil {
		return
	}
	m.grads = make([]float32, len(m.flat))
	rest := m.grads
	for i, p := range m.parameters {
		n := len(p.Data)
		m.parameters[i].Grad = rest[:n:n]
		rest = rest[n:]
	}
}

// addGradients differentiates the loss and lets every gradient be written into its place in grads.
func (m *Model) addGradients(g *Graph, grads []float32) error {
	nodes := make(gorgonia.Nodes, len(m.parameters))
	for i, p := range m.parameters {
		nodes[i] = g.gpt.parameter(p.Name)
	}
	gradients, err := g.gpt.Gradients(g.loss, nodes)
	if err != nil {
		return err
	}
	for i, n := range gradients {
		size := len(m.parameters[i].Data)
		if err := ops.SetOutput(n, grads[:size:size]); err != nil {
			return err
		}
		grads = grads[size:]
	}
	return nil
}

// Run passes Tokens (and Targets) through the graph. iteration selects the dropout masks of a Training graph.
func (g *Graph) Run(iteration int) (err error) {
	defer recoverTo(&err)
	if err := g.check(); err != nil {
		return err
	}
	g.random.Iteration = uint64(iteration)
	return g.machine.RunAll()
}

// check refuses ids outside the vocabulary before they index a table.
func (g *Graph) check() error {
	v := int32(g.gpt.model.Config.VocabSize)
	for i, id := range g.Tokens {
		if id < 0 || id >= v {
			return fmt.Errorf("model: token %d is %d; ids are from 0 to %d", i, id, v-1)
		}
	}
	for i, id := range g.Targets {
		if id < -1 || id >= v {
			return fmt.Errorf("model: target %d is %d; ids are from 0 to %d, or -1", i, id, v-1)
		}
	}
	return nil
}

// Loss is the mean cross-entropy of the targets that are not ignored, in nats a character.
func (g *Graph) Loss() float32 { return ops.Output(g.loss)[0] }

// Logits returns the scores of the next character, (B, T, V).
func (g *Graph) Logits() []float32 { return ops.Output(g.logits) }

// AttentionWeights returns a layer's attention weights, (B, NH, T, T): rows are queries and sum to 1 over the keys.
func (g *Graph) AttentionWeights(layer int) []float32 { return ops.Output(g.gpt.weights[layer]) }

// QKV returns a layer's queries, keys and values, (B, T, 3·NH·HS): Q, K and V side by side, each with its heads side by
// side; after the rotation, if positions are rotary.
func (g *Graph) QKV(layer int) []float32 { return ops.Output(g.gpt.qkv[layer]) }

// Close frees the machine.
func (g *Graph) Close() error { return g.machine.Close() }

// recoverTo turns a panic of a library into an error at the edge of the package.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("model: %v", r)
	}
}
