package ops

import (
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// operation is what every operation of this package is: a gorgonia.Op that owns its output and knows its derivative.
type operation struct {
	name   string
	number int          // instance: two operations on one input must not hash alike, or gorgonia merges them
	in     []hm.Type    // types of the inputs
	shape  tensor.Shape // of the output; nil is a scalar

	differentiable []bool // by input
	forward        func(out []float32, in []gorgonia.Value)
	backward       func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error)

	buffer []float32      // the output's memory
	value  gorgonia.Value // the output, made once
	scalar *gorgonia.F32  // the output where shape is nil
}

var (
	_ gorgonia.SDOp            = (*operation)(nil)
	_ gorgonia.UsePreallocDoer = (*operation)(nil)
)

// matrix, vector and ids are the types of the inputs that operations take.
func matrix() hm.Type { return gorgonia.TensorType{Dims: 2, Of: tensor.Float32} }
func vector() hm.Type { return gorgonia.TensorType{Dims: 1, Of: tensor.Float32} }
func ids() hm.Type    { return gorgonia.TensorType{Dims: 1, Of: tensor.Int32} }

func (o *operation) Arity() int { return len(o.in) }

// Type builds a fresh function type at each call: gorgonia puts it back into a pool after use.
func (o *operation) Type() hm.Type {
	types := append(make([]hm.Type, 0, len(o.in)+1), o.in...)
	if o.shape == nil {
		return hm.NewFnType(append(types, tensor.Float32)...)
	}
	return hm.NewFnType(append(types, gorgonia.TensorType{Dims: o.shape.Dims(), Of: tensor.Float32})...)
}

func (o *operation) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	if o.shape == nil {
		return tensor.ScalarShape(), nil
	}
	return o.shape.Clone(), nil
}

func (o *operation) ReturnsPtr() bool      { return true }
func (o *operation) CallsExtern() bool     { return false }
func (o *operation) OverwritesInput() int  { return -1 }
func (o *operation) WriteHash(h hash.Hash) { fmt.Fprintf(h, "chargpt.%s#%d", o.name, o.number) }
func (o *operation) String() string        { return fmt.Sprintf("%s#%d", o.name, o.number) }
func (o *operation) DiffWRT(int) []bool    { return o.differentiable }

func (o *operation) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// SymDiff extends the graph by this operation's derivative, one gradient node for each differentiable input.
func (o *operation) SymDiff(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	if o.backward == nil {
		return nil, fmt.Errorf("ops: %s has no derivative", o)
	}
	return o.backward(in, grad)
}

// Do runs the operation. A panic inside, of a kernel or a library, comes back as an error.
func (o *operation) Do(in ...gorgonia.Value) (out gorgonia.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("ops: %s: %v", o, r)
		}
	}()
	o.forward(o.memory(), in)
	if o.scalar != nil {
		*o.scalar = gorgonia.F32(o.buffer[0])
	}
	return o.value, nil
}

// UsePreallocDo ignores the machine's memory: the operation has its own.
func (o *operation) UsePreallocDo(_ gorgonia.Value, in ...gorgonia.Value) (gorgonia.Value, error) {
	return o.Do(in...)
}

func (o *operation) allocate() {
	if o.shape == nil {
		o.buffer, o.scalar = make([]float32, 1), gorgonia.NewF32(0)
		o.value = o.scalar
		return
	}
	if o.buffer == nil {
		o.buffer = make([]float32, o.shape.TotalSize())
	}
	o.value = tensor.New(tensor.WithShape(o.shape...), tensor.WithBacking(o.buffer))
}

// memory is the output's memory, made if it has none yet.
func (o *operation) memory() []float32 {
	if o.value == nil {
		o.allocate()
	}
	return o.buffer
}

// Output returns the memory that n's operation writes: valid after a run, overwritten by the next.
// It is nil for a node that is no operation of this package.
func Output(n *gorgonia.Node) []float32 {
	o, ok := n.Op().(*operation)
	if !ok {
		return nil
	}
	return o.memory()
}

// SetOutput makes n's operation write into buffer. Call it before the first run.
func SetOutput(n *gorgonia.Node, buffer []float32) error {
	o, ok := n.Op().(*operation)
	switch {
	case !ok:
		return fmt.Errorf("ops: %v is no operation of this package", n)
	case o.value != nil:
		return fmt.Errorf("ops: %s has run already", o)
	case len(buffer) != o.shape.TotalSize():
		return fmt.Errorf("ops: %s writes %d numbers, not %d", o, o.shape.TotalSize(), len(buffer))
	}
	o.buffer = buffer
	return nil
}

// floats and tokensOf are the memory of an input; Data() would reflect.
func floats(v gorgonia.Value) []float32 { return v.(*tensor.Dense).Float32s() }
func tokensOf(v gorgonia.Value) []int32 { return v.(*tensor.Dense).Int32s() }
