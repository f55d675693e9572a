package model_test

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chargpt/internal/optim"
	"chargpt/model"

	"github.com/nlpodyssey/safetensors"
)

var fixtures = flag.String("fixtures", "testdata/fixtures", "folder of PyTorch fixtures (reference.py fixture)")

// The fixtures are float64 arithmetic on float32 weights. Ours is float32: each comparison states what it allows,
// relative to the largest element of the tensor.
const (
	tolerance      = 1e-5 // logits, loss, attention weights, gradients, norms
	afterTolerance = 1e-5 // parameters after 3 steps
	muonTolerance  = 1e-4 // parameters after 3 steps of Muon, whose iterations amplify rounding
)

// TestParity compares a forward and a backward pass and three steps of AdamW, or of Muon and AdamW, with PyTorch: one
// subtest for each file of the folder and of its folder modern.
func TestParity(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(*fixtures, "*.safetensors"))
	modern, _ := filepath.Glob(filepath.Join(*fixtures, "modern", "*.safetensors")) // the same pattern, so the same error
	files = append(files, modern...)
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s (%v)", *fixtures, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".safetensors"), func(t *testing.T) {
			testParity(t, readFixture(t, file))
		})
	}
}

func testParity(t *testing.T, f fixture) {
	m, err := model.NewZero(f.config)
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string][]float32{}
	for _, p := range m.Parameters() {
		weights[p.Name] = toFloat32(f.floats(t, "param."+p.Name))
	}
	if err := m.SetWeights(weights); err != nil {
		t.Fatal(err)
	}
	steps, batch, length := f.dims(t, "in.idx")
	g, err := m.NewGraph(batch, length, model.Training, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	b, err := m.NewBatch(batch, length, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	losses, norms := f.floats(t, "out.losses"), f.floats(t, "out.grad_norms")
	stepper := f.newStepper(m)
	for s := range steps {
		f.ids(t, "in.idx", s*batch*length, g.Tokens)
		f.ids(t, "in.targets", s*batch*length, g.Targets)
		copy(b.Tokens, g.Tokens)
		copy(b.Targets, g.Targets)
		if err := b.Run(s); err != nil {
			t.Fatal(err)
		}
		if err := g.Run(s); err != nil { // last: the gradients are the graph's from here on
			t.Fatal(err)
		}
		if s == 0 {
			compareForward(t, f, m, g)
		}
		compare(t, fmt.Sprintf("loss of step %d", s), []float32{g.Loss()}, losses[s:s+1], tolerance)
		norm := globalNorm(m.Gradients())
		compare(t, fmt.Sprintf("gradient norm of step %d", s), []float32{float32(norm)}, norms[s:s+1], tolerance)
		compare(t, fmt.Sprintf("gradient norm of step %d, in micro-batches", s), []float32{float32(b.GradNorm())}, norms[s:s+1], tolerance)
		stepper.step(norm, s+1)
	}
	for _, p := range m.Parameters() {
		compare(t, "after."+p.Name, p.Data, f.floats(t, "after."+p.Name), f.afterTolerance())
	}
}

func compareForward(t *testing.T, f fixture, m *model.Model, g *model.Graph) {
	t.Helper()
	compare(t, "logits", g.Logits(), f.floats(t, "out.logits"), tolerance)
	for i := range f.config.NLayer {
		compare(t, fmt.Sprintf("attention weights of layer %d", i), g.AttentionWeights(i), f.floats(t, fmt.Sprintf("out.attn.%d", i)), tolerance)
	}
	largest := 0.0 // of all gradients: some, such as that of b_k, are zero in theory and rounding noise in practice
	for _, p := range m.Parameters() {
		largest = max(largest, maxAbs(f.floats(t, "grad."+p.Name)))
	}
	for _, p := range m.Parameters() {
		want := f.floats(t, "grad."+p.Name)
		if maxAbs(want) < 1e-9*largest {
			compareAbsolute(t, "grad."+p.Name, p.Grad, want, tolerance*largest)
			continue
		}
		compare(t, "grad."+p.Name, p.Grad, want, tolerance)
	}
}

// compare reports a difference of more than tol times the largest element of want.
func compare(t *testing.T, name string, got []float32, want []float64, tol float64) {
	t.Helper()
	compareAbsolute(t, name, got, want, tol*maxAbs(want))
}

func compareAbsolute(t *testing.T, name string, got []float32, want []float64, allowed float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d numbers, want %d", name, len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= allowed) {
			t.Errorf("%s[%d] = %v, want %v: differs by %.2g, allowed %.2g", name, i, got[i], w, d, allowed)
			return
		}
	}
}

func maxAbs(x []float64) (m float64) {
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// fixture is one file of reference.py.
type fixture struct {
	config    model.Config
	optimizer optimizerConfig
	tensors   safetensors.SafeTensors
}

type optimizerConfig struct {
	LR          float64 `json:"lr"`
	Beta1       float64 `json:"beta1"`
	Beta2       float64 `json:"beta2"`
	Eps         float64 `json:"eps"`
	WeightDecay float64 `json:"weight_decay"`
	GradClip    float64 `json:"grad_clip"`
	Muon        *struct {
		LR          float64 `json:"lr"`
		Momentum    float64 `json:"momentum"`
		WeightDecay float64 `json:"weight_decay"`
		Iterations  int     `json:"iterations"`
	} `json:"muon"`
}

func readFixture(t *testing.T, path string) fixture {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tensors, err := safetensors.Deserialize(b)
	if err != nil {
		t.Fatal(err)
	}
	_, header, err := safetensors.ReadMetadata(b)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{tensors: tensors}
	f.config.Tied = true // reference.py's default
	if err := json.Unmarshal([]byte(header.Metadata()["config"]), &f.config); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(header.Metadata()["optimizer"]), &f.optimizer); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) tensor(t *testing.T, name string) safetensors.TensorView {
	t.Helper()
	v, ok := f.tensors.Tensor(name)
	if !ok {
		t.Fatalf("the fixture has no tensor %s", name)
	}
	return v
}

// floats reads a tensor of float32 or float64.
func (f fixture) floats(t *testing.T, name string) []float64 {
	t.Helper()
	v := f.tensor(t, name)
	b := v.Data()
	var out []float64
	switch v.DType() {
	case safetensors.F64:
		for ; len(b) > 0; b = b[8:] {
			out = append(out, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case safetensors.F32:
		for ; len(b) > 0; b = b[4:] {
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
	default:
		t.Fatalf("%s has type %v", name, v.DType())
	}
	return out
}

// ids reads len(dst) token ids from element from of a tensor of int64.
func (f fixture) ids(t *testing.T, name string, from int, dst []int32) {
	t.Helper()
	b := f.tensor(t, name).Data()
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint64(b[8*(from+i):]))
	}
}

func (f fixture) dims(t *testing.T, name string) (steps, batch, length int) {
	t.Helper()
	s := f.tensor(t, name).Shape()
	return int(s[0]), int(s[1]), int(s[2])
}

func (f fixture) afterTolerance() float64 {
	if f.optimizer.Muon != nil {
		return muonTolerance
	}
	return afterTolerance
}

// stepper is clipping and AdamW, and Muon on the blocks' matrices where the fixture says so, as a trainer calls them.
type stepper struct {
	m       *model.Model
	opt     optimizerConfig
	moments map[string][2][]float32
	muon    *optim.Muon
}

func (f fixture) newStepper(m *model.Model) stepper {
	s := stepper{m, f.optimizer, map[string][2][]float32{}, nil}
	if o := f.optimizer.Muon; o != nil {
		s.muon = &optim.Muon{Momentum: o.Momentum, WeightDecay: o.WeightDecay, Threads: 1}
	}
	for _, p := range m.Parameters() {
		if s.muon != nil && p.IsBlockMatrix() {
			s.muon.Matrices = append(s.muon.Matrices, optim.Matrix{Rows: p.Shape[0], Cols: p.Shape[1], W: p.Data, Grad: p.Grad, Momentum: make([]float32, len(p.Data))})
			continue
		}
		s.moments[p.Name] = [2][]float32{make([]float32, len(p.Data)), make([]float32, len(p.Data))}
	}
	return s
}

func (s stepper) step(norm float64, t int) {
	a := optim.AdamW{Beta1: s.opt.Beta1, Beta2: s.opt.Beta2, Eps: s.opt.Eps, WeightDecay: s.opt.WeightDecay, Threads: 1}
	scale := optim.ClipScale(norm, s.opt.GradClip)
	if s.muon != nil {
		s.muon.Step(s.opt.Muon.LR, scale)
	}
	for _, p := range s.m.Parameters() {
		if s.muon != nil && p.IsBlockMatrix() {
			continue
		}
		a.Step(p.Data, p.Grad, s.moments[p.Name][0], s.moments[p.Name][1], s.opt.LR, scale, t, p.Decays())
	}
}

func toFloat32(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
