package ops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
)

// An input is one differentiable operand of an operation under test.
type input struct {
	name  string
	shape []int
}

// A case builds y from its inputs. A projection of y on fixed random numbers is the scalar whose derivative is checked.
type derivativeCase struct {
	name   string
	inputs []input
	build  func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node
}

// sizes are B, T, NH, HS, C, V; each is 1 in one of them, and odd ones leave tails in every kernel.
type sizes struct{ b, t, nh, hs, c, v int }

var allSizes = []sizes{
	{2, 5, 2, 4, 8, 7}, {1, 1, 1, 2, 3, 2}, {3, 1, 1, 2, 5, 1}, {1, 7, 3, 2, 1, 9}, {2, 6, 2, 2, 12, 5}, {2, 53, 2, 6, 9, 17}, {2, 101, 2, 20, 16, 65},
}

func (s sizes) n() int { return s.b * s.t }
func (s sizes) a() int { return s.nh * s.hs }

func (s sizes) ids(limit int) []int32 {
	out := make([]int32, s.n())
	for i := range out {
		out[i] = int32((i*7 + 3) % limit)
	}
	return out
}

func (s sizes) positions() []int32 {
	out := make([]int32, s.n())
	for i := range out {
		out[i] = int32(i % s.t)
	}
	return out
}

func derivativeCases(s sizes) []derivativeCase {
	n, c, a, v := s.n(), s.c, s.a(), s.v
	nc := []int{n, c}
	return []derivativeCase{
		{"embedding", []input{{"wte", []int{v, c}}, {"wpe", []int{s.t, c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Embedding(in["wte"], in["wpe"], b.InputIDs("ids", s.ids(v)), b.InputIDs("pos", s.positions()))
		}},
		{"embedding without positions", []input{{"wte", []int{v, c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Embedding(in["wte"], nil, b.InputIDs("ids", s.ids(v)), b.InputIDs("pos", s.positions()))
		}},
		{"embedding and tied head", []input{{"wte", []int{v, c}}, {"wpe", []int{s.t, c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			x := b.Embedding(in["wte"], in["wpe"], b.InputIDs("ids", s.ids(v)), b.InputIDs("pos", s.positions()))
			return b.TiedHead(x, in["wte"])
		}},
		{"layernorm", []input{{"x", nc}, {"gain", []int{c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.LayerNorm(in["x"], in["gain"], nil)
		}},
		{"layernorm with bias", []input{{"x", nc}, {"gain", []int{c}}, {"bias", []int{c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.LayerNorm(in["x"], in["gain"], in["bias"])
		}},
		{"linear", []input{{"x", nc}, {"w", []int{c, a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Linear(in["x"], in["w"], nil, nil)
		}},
		{"linear with bias", []input{{"x", nc}, {"w", []int{c, a}}, {"bias", []int{a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Linear(in["x"], in["w"], in["bias"], nil)
		}},
		{"three linears", []input{{"x", nc}, {"w", []int{c, c}}, {"w2", []int{c, c}}, {"w3", []int{c, c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Linear(b.Linear(b.Linear(in["x"], in["w"], nil, nil), in["w2"], nil, nil), in["w3"], nil, nil)
		}},
		{"self-attention", []input{{"x", nc}, {"wq", []int{c, a}}, {"wk", []int{c, a}}, {"wv", []int{c, a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Attention(b.QKV(in["x"], gorgonia.Nodes{in["wq"], in["wk"], in["wv"]}, nil), s.b, s.t, s.nh, 0)
		}},
		{"residual branch", []input{{"x", nc}, {"gain", []int{c}}, {"w", []int{c, c}}, {"bias", []int{c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Linear(b.LayerNorm(in["x"], in["gain"], nil), in["w"], in["bias"], in["x"])
		}},
		{"qkv", []input{{"x", nc}, {"wq", []int{c, a}}, {"wk", []int{c, a}}, {"wv", []int{c, a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.QKV(in["x"], gorgonia.Nodes{in["wq"], in["wk"], in["wv"]}, nil)
		}},
		{"qkv with biases", []input{{"x", nc}, {"wq", []int{c, a}}, {"wk", []int{c, a}}, {"wv", []int{c, a}}, {"bq", []int{a}}, {"bk", []int{a}}, {"bv", []int{a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.QKV(in["x"], gorgonia.Nodes{in["wq"], in["wk"], in["wv"]}, gorgonia.Nodes{in["bq"], in["bk"], in["bv"]})
		}},
		{"attention", []input{{"qkv", []int{n, 3 * a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Attention(in["qkv"], s.b, s.t, s.nh, 0)
		}},
		{"attention with dropout", []input{{"qkv", []int{n, 3 * a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Attention(in["qkv"], s.b, s.t, s.nh, 0.4)
		}},
		{"rotary", []input{{"qkv", []int{n, 3 * a}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Rotary(in["qkv"], b.InputIDs("pos", s.positions()), s.nh, s.t)
		}},
		{"gelu", []input{{"x", nc}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node { return b.GELU(in["x"]) }},
		{"dropout", []input{{"x", nc}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Dropout(in["x"], nil, 0.3)
		}},
		{"residual branch with dropout", []input{{"x", nc}, {"gain", []int{c}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			return b.Dropout(b.LayerNorm(in["x"], in["gain"], nil), in["x"], 0.3)
		}},
		{"crossentropy", []input{{"logits", []int{n, v}}}, func(b *Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			targets := s.ids(v)
			targets[0] = -1
			return b.CrossEntropy(in["logits"], b.InputIDs("targets", targets))
		}},
	}
}

// TestDerivatives compares every operation's gradients with finite differences of its own forward pass.
func TestDerivatives(t *testing.T) {
	for _, s := range allSizes {
		for _, c := range derivativeCases(s) {
			t.Run(fmt.Sprintf("%s/B%d T%d NH%d HS%d C%d V%d", c.name, s.b, s.t, s.nh, s.hs, s.c, s.v), func(t *testing.T) {
				checkDerivative(t, c)
			})
		}
	}
}

func checkDerivative(t *testing.T, c derivativeCase) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder(2, &Random{Seed: 3})
	nodes, data := map[string]*gorgonia.Node{}, map[string][]float32{}
	var params gorgonia.Nodes
	for _, in := range c.inputs {
		d := make([]float32, size(in.shape))
		for i := range d {
			d[i] = float32(rng.NormFloat64())
		}
		data[in.name], nodes[in.name] = d, b.Input(in.name, d, in.shape...)
		params = append(params, nodes[in.name])
	}
	y := c.build(b, nodes)
	loss, project := y, []float32{1}
	if b.Err() == nil && !y.IsScalar() {
		project = make([]float32, y.Shape().TotalSize())
		for i := range project {
			project[i] = float32(rng.NormFloat64())
		}
		loss = b.project(y, project)
	}
	grads, err := b.Gradients(loss, params)
	if err != nil {
		t.Fatal(err)
	}
	machine := gorgonia.NewTapeMachine(b.Graph)
	defer machine.Close()
	run := func() float64 {
		if err := machine.RunAll(); err != nil {
			t.Fatal(err)
		}
		machine.Reset()
		var sum float64
		for i, v := range Output(y) {
			sum += float64(v) * float64(project[i])
		}
		return sum
	}
	run()
	analytic := map[string][]float32{}
	for i, in := range c.inputs {
		analytic[in.name] = append([]float32{}, Output(grads[i])...)
	}
	for _, in := range c.inputs {
		for range 2 {
			checkDirection(t, in.name, data[in.name], analytic[in.name], rng, run)
		}
	}
}

// checkDirection compares the derivative along one random direction of unit length with a fourth-order stencil.
func checkDirection(t *testing.T, name string, x, grad []float32, rng *rand.Rand, f func() float64) {
	t.Helper()
	direction, length := make([]float64, len(x)), 0.0
	for i := range direction {
		direction[i] = rng.NormFloat64()
		length += direction[i] * direction[i]
	}
	want, gradNorm := 0.0, 0.0
	for i := range direction {
		direction[i] /= math.Sqrt(length)
		want += direction[i] * float64(grad[i])
		gradNorm += float64(grad[i]) * float64(grad[i])
	}
	saved := append([]float32{}, x...)
	at := func(h float64) float64 {
		for i := range x {
			x[i] = saved[i] + float32(h*direction[i])
		}
		return f()
	}
	const h = 2e-2
	got := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
	copy(x, saved)
	if allowed := 2e-3*math.Sqrt(gradNorm) + 2e-4; !(math.Abs(got-want) <= allowed) {
		t.Errorf("derivative along a random direction of %s: finite difference %v, gradient gives %v (allowed %.2g)", name, got, want, allowed)
	}
}

// project is the scalar Σ y∘r, for tests alone.
func (b *Builder) project(y *gorgonia.Node, r []float32) *gorgonia.Node {
	o := b.operation("test.project", nil, matrix())
	o.differentiable = []bool{true}
	o.forward = func(out []float32, in []gorgonia.Value) {
		out[0] = 0
		for i, v := range floats(in[0]) {
			out[0] += v * r[i]
		}
	}
	o.backward = func(in gorgonia.Nodes, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		d := b.operation("test.project.dx", in[0].Shape().Clone(), matrix())
		d.forward = func(dx []float32, _ []gorgonia.Value) { copy(dx, r) }
		return applyAll([]*operation{d}, gorgonia.Nodes{in[0]})
	}
	return b.apply(o, y)
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
