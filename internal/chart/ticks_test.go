package chart

import (
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		ticks  ticks
		lo, hi float64
		want   string
	}{
		{ticks{8, 1}, 0, 2000, "0 500 1000 1500 2000"}, {ticks{8, 1}, 0, 1, "0 1"}, {ticks{8, 1}, 0, 5e6, "0 1000000 2000000 3000000 4000000 5000000"},
		{ticks{5, 0}, 1.67, 4.3, "2 3 4"}, {ticks{3, 0}, 0, 0.00106, "0 0.0005 0.001"}, {ticks{5, 0}, 0, 0.5, "0 0.1 0.2 0.3 0.4 0.5"},
		{ticks{3, 0}, 0, 1e-5, "0 5e-06 1e-05"},
	} {
		var labels []string
		for _, x := range tt.ticks.Ticks(tt.lo, tt.hi) {
			labels = append(labels, x.Label)
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("%+v from %v to %v: %s, want %s", tt.ticks, tt.lo, tt.hi, got, tt.want)
		}
	}
}
