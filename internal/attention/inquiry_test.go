package attention

import (
	"slices"
	"testing"
)

func TestStrongest(t *testing.T) {
	row := []float32{0.2, 0.4, 0.2, 0.2, 0}
	for _, c := range []struct {
		query, k int
		want     []int
	}{
		{3, 2, []int{1, 3}}, {3, 9, []int{1, 3, 2, 0}}, {0, 3, []int{0}}, {4, 5, []int{1, 3, 2, 0, 4}},
	} {
		if got := strongest(row, c.query, c.k); !slices.Equal(got, c.want) {
			t.Errorf("strongest(%v, %d, %d) = %v, want %v", row, c.query, c.k, got, c.want)
		}
	}
}
