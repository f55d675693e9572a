package train

import (
	"fmt"
	"maps"
	"slices"

	"chargpt/internal/optim"
	"chargpt/model"
)

// The values of [Options.Optimizer].
const (
	AdamW = "adamw" // on everything
	Muon  = "muon"  // on the blocks' matrices, AdamW on embeddings, LM head, gains and biases
)

// muonMomentum is Muon's μ, fixed as in its author's runs.
const muonMomentum = 0.95

// optimizer is what updates the parameters, with its moments.
type optimizer struct {
	model *model.Model
	adamw optim.AdamW
	spans []span      // what AdamW updates
	muon  *optim.Muon // nil: AdamW updates everything
	m, v  []float32   // laid out as the parameters: AdamW's moments; m is Muon's momentum in its matrices
}

// span is a range of the parameters' memory that is updated alike.
type span struct {
	lo, hi int
	decays bool
}

// newOptimizer needs the model's training graph to exist: it updates from the gradients' memory.
func newOptimizer(m *model.Model, o Options) *optimizer {
	n := len(m.Flat())
	p := &optimizer{model: m, m: make([]float32, n), v: make([]float32, n),
		adamw: optim.AdamW{Beta1: o.Beta1, Beta2: o.Beta2, Eps: adamEps, WeightDecay: o.WeightDecay, Threads: m.Threads}}
	if o.Optimizer == Muon {
		p.muon = &optim.Muon{Momentum: muonMomentum, WeightDecay: o.MuonWeightDecay, Threads: m.Threads}
	}
	at := 0
	for _, x := range m.Parameters() {
		lo, hi := at, at+len(x.Data)
		at = hi
		switch last := len(p.spans) - 1; {
		case p.byMuon(x):
			p.muon.Matrices = append(p.muon.Matrices, optim.Matrix{Rows: x.Shape[0], Cols: x.Shape[1], W: x.Data, Grad: x.Grad, Momentum: p.m[lo:hi]})
		case last >= 0 && p.spans[last].hi == lo && p.spans[last].decays == x.Decays():
			p.spans[last].hi = hi
		default:
			p.spans = append(p.spans, span{lo, hi, x.Decays()})
		}
	}
	return p
}

// byMuon reports whether Muon updates a parameter.
func (p *optimizer) byMuon(x model.Parameter) bool { return p.muon != nil && x.IsBlockMatrix() }

// step updates all parameters, at step t (from 1), from their gradients times gradScale.
func (p *optimizer) step(lr, muonLR, gradScale float64, t int) {
	w, g := p.model.Flat(), p.model.Gradients()
	for _, s := range p.spans {
		p.adamw.Step(w[s.lo:s.hi], g[s.lo:s.hi], p.m[s.lo:s.hi], p.v[s.lo:s.hi], lr, gradScale, t, s.decays)
	}
	if p.muon != nil {
		p.muon.Step(muonLR, gradScale)
	}
}

// state is the moments by kind and parameter, as a checkpoint holds them: windows on the optimizer's memory.
func (p *optimizer) state() map[string]map[string][]float32 {
	state := map[string]map[string][]float32{"m": {}, "v": {}}
	if p.muon != nil {
		state["muon"] = map[string][]float32{}
	}
	m, v := p.m, p.v
	for _, x := range p.model.Parameters() {
		n := len(x.Data)
		if p.byMuon(x) {
			state["muon"][x.Name] = m[:n]
		} else {
			state["m"][x.Name], state["v"][x.Name] = m[:n], v[:n]
		}
		m, v = m[n:], v[n:]
	}
	return state
}

// restore fills the moments from a checkpoint.
func (p *optimizer) restore(saved map[string]map[string][]float32) error {
	for kind, tensors := range p.state() {
		for _, name := range slices.Sorted(maps.Keys(tensors)) {
			if s, ok := saved[kind][name]; !ok || copy(tensors[name], s) != len(tensors[name]) {
				return fmt.Errorf("the checkpoint has no optimizer state for %s: it cannot be resumed (best.safetensors is for sampling; resume from ckpt.safetensors)", name)
			}
		}
	}
	return nil
}
