package ops

import (
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
)

// The machine gives gorgonia's own results, bit for bit, run after run.
func TestMachineIsTapeMachine(t *testing.T) {
	build := func() (*Builder, gorgonia.Nodes, *gorgonia.Node) {
		b := NewBuilder(1, nil)
		numbers := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32((i*37+11)%23)/23 - 0.5
			}
			return x
		}
		wte, w := b.Input("wte", numbers(7*6), 7, 6), b.Input("w", numbers(6*6), 6, 6)
		gain := b.Input("gain", numbers(6), 6)
		x := b.Embedding(wte, nil, b.InputIDs("ids", []int32{1, 5, 3, 6}), b.InputIDs("positions", []int32{0, 1, 2, 3}))
		x = b.Linear(b.GELU(b.LayerNorm(x, gain, nil)), w, nil, x)
		loss := b.CrossEntropy(b.TiedHead(x, wte), b.InputIDs("targets", []int32{5, 3, -1, 2}))
		grads, err := b.Gradients(loss, gorgonia.Nodes{wte, w, gain})
		if err != nil {
			t.Fatal(err)
		}
		return b, grads, loss
	}
	slow, want, wantLoss := build()
	tape := gorgonia.NewTapeMachine(slow.Graph)
	defer tape.Close()
	if err := tape.RunAll(); err != nil {
		t.Fatal(err)
	}
	fast, got, gotLoss := build()
	m, err := NewMachine(fast.Graph)
	if err != nil {
		t.Fatal(err)
	}
	for run := range 2 {
		if err := m.RunAll(); err != nil {
			t.Fatal(err)
		}
		if got, want := Output(gotLoss)[0], Output(wantLoss)[0]; got != want {
			t.Errorf("run %d: loss %v, want %v", run, got, want)
		}
		for i := range got {
			if got, want := Output(got[i]), Output(want[i]); !slices.Equal(got, want) {
				t.Errorf("run %d: gradient %d = %v, want %v", run, i, got, want)
			}
		}
	}
}

// A graph with an operation of gorgonia's own is refused when the machine is made, not in the middle of a run.
func TestMachineRefuses(t *testing.T) {
	b := NewBuilder(1, nil)
	x := b.Input("x", []float32{1, 2}, 1, 2)
	if _, err := gorgonia.Add(x, x); err != nil {
		t.Fatal(err)
	}
	if _, err := NewMachine(b.Graph); err == nil {
		t.Error("a graph with gorgonia's addition is accepted")
	}
}
