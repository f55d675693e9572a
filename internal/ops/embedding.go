package ops

import (
	"chargpt/internal/f32"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Embedding looks up a vector for every token, and adds one for its position:
//
//	y[i] = wte[token[i]] + wpe[position[i]]
//
// wte (V, C), wpe (T, C) or nil, tokens and positions (N) → (N, C).
func (b *Builder) Embedding(wte, wpe, tokens, positions *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, c := tokens.Shape()[0], wte.Shape()[1]
	o := b.operation("embedding", tensor.Shape{n, c}, matrix(), ids())
	in := gorgonia.Nodes{wte, tokens}
	o.differentiable = []bool{true, false}
	if wpe != nil {
		o.in = append(o.in, matrix(), ids())
		in = append(in, wpe, positions)
		o.differentiable = append(o.differentiable, true, false)
	}
	o.forward = func(y []float32, in []gorgonia.Value) {
		for i, id := range tokensOf(in[1]) {
			copy(row(y, i, c), row(floats(in[0]), int(id), c))
		}
		if len(in) > 2 {
			gatherAdd(y, floats(in[2]), tokensOf(in[3]), c)
		}
	}
	o.backward = func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dwte, err := b.scatter("embedding.dwte", in[0], in[1], grad)
		if err != nil || len(in) == 2 {
			return gorgonia.Nodes{dwte, nil}, err
		}
		dwpe, err := b.scatter("embedding.dwpe", in[2], in[3], grad)
		return gorgonia.Nodes{dwte, nil, dwpe, nil}, err
	}
	return b.apply(o, in...)
}

// scatter is the gradient of a table (R, C) whose row index[i] was read for row i of the output:
//
//	dtable[index[i]] += dy[i]
//
// A tied LM head has deposited its own gradient of the table: it is added to in place.
func (b *Builder) scatter(name string, table, index, grad *gorgonia.Node) (*gorgonia.Node, error) {
	r, c := table.Shape()[0], table.Shape()[1]
	o := b.operation(name, tensor.Shape{r, c}, ids(), matrix())
	in := gorgonia.Nodes{index, grad}
	if head := b.collect(table); head != nil {
		o.in = append(o.in, matrix())
		in = append(in, head)
	}
	o.forward = func(dtable []float32, in []gorgonia.Value) {
		if !b.Pass.Accumulate {
			clear(dtable)
		}
		if len(in) > 2 {
			f32.Add(dtable, dtable, floats(in[2]))
		}
		dy := floats(in[1])
		for i, id := range tokensOf(in[0]) {
			d := row(dtable, int(id), c)
			f32.Add(d, d, row(dy, i, c))
		}
	}
	return gorgonia.ApplyOp(o, in...)
}

// Last selects the last token of each sequence: x (B·T, C) → (B, C).
func (b *Builder) Last(x *gorgonia.Node, t int) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	n, c := x.Shape()[0]/t, x.Shape()[1]
	o := b.operation("last", tensor.Shape{n, c}, matrix())
	o.forward = func(y []float32, in []gorgonia.Value) {
		for i := range n {
			copy(row(y, i, c), row(floats(in[0]), (i+1)*t-1, c))
		}
	}
	return b.apply(o, x)
}

// gatherAdd adds table[index[i]] to row i of y.
func gatherAdd(y, table []float32, index []int32, c int) {
	for i, id := range index {
		d := row(y, i, c)
		f32.Add(d, d, row(table, int(id), c))
	}
}

// row is row i of a matrix of c columns.
func row(m []float32, i, c int) []float32 { return m[i*c : (i+1)*c : (i+1)*c] }
