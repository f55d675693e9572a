package train

import (
	"math"
	"strings"
	"testing"
)

// Who reads that training diverged learns every rate that may be too high.
func TestDivergedError(t *testing.T) {
	for _, tt := range []struct {
		optimizer string
		want      string
	}{
		{AdamW, "diverged at iteration 50 (loss NaN, gradient norm 3): try a lower -learning_rate than 0.01, a longer"},
		{Muon, "try a lower -learning_rate than 0.01, a lower -muon_lr than 0.03, a longer"},
	} {
		_, o := small()
		o.Optimizer, o.LearningRate, o.MinLR, o.MuonLR, o.WarmupIters = tt.optimizer, 0.01, 0.01, 0.03, 0
		err := newTrainer(t, "", o, 1).diverged(50, math.NaN(), 3)
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.optimizer, err, tt.want)
		}
	}
}
