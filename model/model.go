package model

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Model is a GPT's configuration and parameters. Its graphs ([Model.NewGraph], [Model.NewDecoder]) share the
// parameters' memory, so that what a trainer changes the others see.
type Model struct {
	Config  Config
	Threads int // that a graph may use in all; set before making one

	parameters []Parameter
	flat       []float32 // all parameters, one after another
	grads      []float32 // their gradients, same layout; nil until a training graph exists
}

// New returns a model with GPT-2's initialisation (Radford et al. 2019, section 2.3) drawn from the seed: N(0, 0.02) for
// matrices, N(0, 0.02/√(2·NLayer)) for those that write into the residual stream, gains 1, biases 0.
func New(config Config, seed uint64) (*Model, error) {
	m, err := NewZero(config)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, initStream))
	for i, s := range m.Config.specifications() {
		s.fill(m.parameters[i].Data, rng)
	}
	return m, nil
}

// initStream tells the random numbers of the initial weights from those of other uses of a seed.
const initStream = 0x696e6974 // "init"

// NewZero returns a model whose parameters are all zero, to be filled from a checkpoint.
func NewZero(config Config) (*Model, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	m := &Model{Config: config.WithDefaults(), Threads: runtime.GOMAXPROCS(0)}
	specs := m.Config.specifications()
	total := 0
	for _, s := range specs {
		total += s.size()
	}
	m.flat = make([]float32, total)
	rest := m.flat
	for _, s := range specs {
		n := s.size()
		m.parameters = append(m.parameters, Parameter{Name: s.name, Shape: s.shape, Data: rest[:n:n]})
		rest = rest[n:]
	}
	return m, nil
}

// Parameters returns all trained tensors in the order of their memory: matrices first, then gains and biases.
func (m *Model) Parameters() []Parameter { return m.parameters }

// Weights returns the parameters' memory by name, as a checkpoint holds it.
func (m *Model) Weights() map[string][]float32 {
	w := make(map[string][]float32, len(m.parameters))
	for _, p := range m.parameters {
		w[p.Name] = p.Data
	}
	return w
}

// SetWeights copies weights by name into the model. Every parameter must be there with its number of elements.
func (m *Model) SetWeights(weights map[string][]float32) error {
	for _, p := range m.parameters {
		w, ok := weights[p.Name]
		if !ok {
			return fmt.Errorf("model: no weights for %s", p.Name)
		}
		if len(w) != len(p.Data) {
			return fmt.Errorf("model: %s has %d numbers, not %d", p.Name, len(w), len(p.Data))
		}
	}
	for _, p := range m.parameters {
		copy(p.Data, weights[p.Name])
	}
	return nil
}

// NumParameters is how many numbers are trained.
func (m *Model) NumParameters() int { return len(m.flat) }

// parameter returns the parameter of that name, or nil: a model without biases has none.
func (m *Model) parameter(name string) *Parameter {
	for i := range m.parameters {
		if m.parameters[i].Name == name {
			return &m.parameters[i]
		}
	}
	return nil
}

// Gradients returns the memory of all gradients, laid out as the parameters are; nil before a [Batch] or a Training graph exists.
func (m *Model) Gradients() []float32 { return m.grads }

// Flat returns the memory of all parameters; those that decay come first.
func (m *Model) Flat() []float32 { return m.flat }
