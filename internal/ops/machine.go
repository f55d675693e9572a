package ops

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// Machine runs a graph whose operations are all of this package, in the order of gorgonia's own TapeMachine and with the
// same results. Because an operation owns its output, every operand is known when the machine is made: a run starts no
// goroutine and allocates nothing.
type Machine struct {
	instructions []instruction
}

var _ gorgonia.VM = (*Machine)(nil)

type instruction struct {
	operation *operation
	in        []gorgonia.Value
}

// NewMachine prepares the graph to be run. Inputs must have their values.
func NewMachine(g *gorgonia.ExprGraph) (*Machine, error) {
	sorted, err := gorgonia.Sort(g) // results before their operands
	if err != nil {
		return nil, fmt.Errorf("ops: %w", err)
	}
	m := &Machine{}
	for i := len(sorted) - 1; i >= 0; i-- {
		n := sorted[i]
		if n.Op() == nil || n.Op().Arity() == 0 { // an input or a constant
			continue
		}
		o, ok := n.Op().(*operation)
		if !ok {
			return nil, fmt.Errorf("ops: %v is no operation of this package", n.Op())
		}
		in, err := operands(g, n)
		if err != nil {
			return nil, err
		}
		m.instructions = append(m.instructions, instruction{o, in})
	}
	return m, nil
}

// operands are the values that n's operation reads.
func operands(g *gorgonia.ExprGraph, n *gorgonia.Node) ([]gorgonia.Value, error) {
	var in []gorgonia.Value
	for children := g.From(n.ID()); children.Next(); {
		child := children.Node().(*gorgonia.Node)
		v := child.Value()
		if o, ok := child.Op().(*operation); ok {
			o.memory() // makes the value
			v = o.value
		}
		if v == nil {
			return nil, fmt.Errorf("ops: %v has no value", child)
		}
		in = append(in, v)
	}
	return in, nil
}

// RunAll runs every operation once.
func (m *Machine) RunAll() error {
	for _, i := range m.instructions {
		if _, err := i.operation.Do(i.in...); err != nil {
			return err
		}
	}
	return nil
}

// Reset does nothing: a machine keeps no state between runs.
func (m *Machine) Reset() {}

// Close does nothing: a machine holds memory only.
func (m *Machine) Close() error { return nil }
