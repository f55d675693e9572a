package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticks places about count ticks at multiples of 1, 2 or 5 times a power of ten, which is at least smallest.
type ticks struct {
	count    int
	smallest float64
}

// Ticks is gonum's plot.Ticker.
func (t ticks) Ticks(lo, hi float64) (marks []plot.Tick) {
	step := t.step(hi - lo)
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		x, _ := strconv.ParseFloat(strconv.FormatFloat(i*step, 'g', 12, 64), 64) // 0.3, not 0.30000000000000004
		format := byte('f')
		if step < 1e-4 {
			format = 'g' // with an exponent
		}
		marks = append(marks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, format, -1, 64)})
	}
	return marks
}

// step is the distance of two ticks over a range.
func (t ticks) step(span float64) float64 {
	least := max(span/float64(t.count), t.smallest)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= least*0.999 {
			return times * power
		}
	}
	return 10 * power
}
