package f32

import (
	"math"
	"slices"
	"testing"
)

// layerNormFormula returns x̂, the mean and rstd.
func layerNormFormula(x []float32) (xhat []float64, mean, rstd float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += float64(v) / n
	}
	variance := 0.0
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / n
	}
	rstd = 1 / math.Sqrt(variance+1e-5)
	for _, v := range x {
		xhat = append(xhat, (float64(v)-mean)*rstd)
	}
	return xhat, mean, rstd
}

// layerNormOne is LayerNorm of one row.
func layerNormOne(y, x, gain, bias []float32) (mean, rstd float32) {
	both := make([]float32, 2)
	LayerNorm(y, x, gain, bias, both[:1], both[1:])
	return both[0], both[1]
}

func TestLayerNorm(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		for _, hasBias := range []bool{true, false} {
			x, gain, bias, y, twin := newGuarded(normal(r, n, 2)), newGuarded(normal(r, n, 1)), newGuarded(normal(r, n, 1)), newGuarded(make([]float32, n)), make([]float32, n)
			b := bias.s
			if !hasBias {
				b = nil
			}
			mean, rstd := layerNormOne(y.s, x.s, gain.s, b)
			layerNormRow(twin, x.s, gain.s, b)
			xhat, wantMean, wantRstd := layerNormFormula(x.s)
			near(t, "mean", n, mean, wantMean, 1e-6, 1e-6)
			near(t, "rstd", n, rstd, wantRstd, 2e-6, 0)
			for i := range xhat {
				want := xhat[i] * float64(gain.s[i])
				if hasBias {
					want += float64(bias.s[i])
				}
				near(t, "y", i, y.s[i], want, 3e-6, 3e-6)
				near(t, "y against portable", i, y.s[i], float64(twin[i]), 3e-6, 3e-6)
			}
			y.check(t, "y")
			layerNormOne(x.s, x.s, gain.s, b)
			sameBits(t, "in place", x.s, y.s)
			x.check(t, "x")
		}
	}
}

// layerNormBackwardFormula returns dx without skip.
func layerNormBackwardFormula(dy, gain []float32, xhat []float64, rstd float64) []float64 {
	n := float64(len(dy))
	var meanG, meanGX float64
	for i := range dy {
		g := float64(dy[i]) * float64(gain[i])
		meanG += g / n
		meanGX += g * xhat[i] / n
	}
	dx := make([]float64, len(dy))
	for i := range dx {
		dx[i] = rstd * (float64(dy[i])*float64(gain[i]) - meanG - xhat[i]*meanGX)
	}
	return dx
}

func TestLayerNormBackward(t *testing.T) {
	r := newRand()
	for _, n := range lengths() {
		for variant := range 4 {
			random := func() guarded { return newGuarded(normal(r, n, 1)) }
			x, gain, dy, skip, dgain, dbias, dx := random(), random(), random(), random(), random(), random(), random()
			hasSkip, hasBias := variant&1 != 0, variant&2 != 0
			s, db := skip.s, dbias.s
			if !hasSkip {
				s = nil
			}
			if !hasBias {
				db = nil
			}
			gain0, bias0 := append([]float32(nil), dgain.s...), append([]float32(nil), dbias.s...)
			mean, rstd := make([]float32, 1), make([]float32, 1)
			LayerNorm(make([]float32, n), x.s, gain.s, nil, mean, rstd)
			LayerNormBackward(dx.s, s, dy.s, x.s, gain.s, dgain.s, db, mean, rstd)

			xhat, _, rstd64 := layerNormFormula(x.s)
			scale := 1e-5 * math.Max(1, rstd64)
			for i, want := range layerNormBackwardFormula(dy.s, gain.s, xhat, rstd64) {
				if hasSkip {
					want += float64(skip.s[i])
				}
				near(t, "dx", i, dx.s[i], want, 1e-5, scale)
				near(t, "dgain", i, dgain.s[i], float64(gain0[i])+float64(dy.s[i])*xhat[i], 1e-5, 1e-5)
				wantBias := float64(bias0[i])
				if hasBias {
					wantBias += float64(dy.s[i])
				}
				near(t, "dbias", i, dbias.s[i], wantBias, 1e-6, 1e-6)
			}
			for _, g := range []guarded{x, gain, dy, skip, dgain, dbias, dx} {
				g.check(t, "LayerNormBackward")
			}

			twin, twinGain, twinBias := make([]float32, n), append([]float32(nil), gain0...), append([]float32(nil), bias0...)
			layerNormBackwardPortable(twin, s, dy.s, x.s, gain.s, twinGain, twinBias, mean, rstd)
			for i := range twin {
				near(t, "dx against portable", i, dx.s[i], float64(twin[i]), 1e-5, scale)
				near(t, "dgain against portable", i, dgain.s[i], float64(twinGain[i]), 1e-5, 1e-5)
			}

			// dx may be dy or skip.
			alias := append([]float32(nil), dy.s...)
			LayerNormBackward(alias, s, alias, x.s, gain.s, dgain.s, db, mean, rstd)
			sameBits(t, "dx in dy", alias, dx.s)
			if hasSkip {
				LayerNormBackward(s, s, dy.s, x.s, gain.s, dgain.s, db, mean, rstd)
				sameBits(t, "dx in skip", s, dx.s)
			}
		}
	}
}

func TestLayerNormSpecials(t *testing.T) {
	for _, n := range []int{2, 8, 13} {
		for at := range n {
			for _, bad := range []float32{nan, inf} {
				x, ones, y := normal(newRand(), n, 1), make([]float32, n), make([]float32, n)
				for i := range ones {
					ones[i] = 1
				}
				dx, dgain, dbias := make([]float32, n), make([]float32, n), make([]float32, n)
				mean, rstd := make([]float32, 1), make([]float32, 1)
				LayerNorm(y, ones, ones, nil, mean, rstd)
				dy := normal(newRand(), n, 1)
				dy[at] = bad
				LayerNormBackward(dx, nil, dy, x, ones, dgain, dbias, mean, rstd)
				x[at] = bad
				layerNormOne(y, x, ones, ones)
				for i := range n {
					if !isNaN(y[i]) || dx[i]-dx[i] == 0 {
						t.Fatalf("%v at %d of %d lost: y %v, dx %v", bad, at, n, y, dx)
					}
					if (dbias[i]-dbias[i] == 0) == (i == at) {
						t.Fatalf("%v at %d: dbias %v", bad, at, dbias)
					}
				}
			}
		}
	}
}

// Several rows have the bits of one after the other, whether or not they make pairs, and poison no other row.
func TestLayerNormRows(t *testing.T) {
	r := newRand()
	for _, c := range []int{1, 5, 8, 16, 20, 24, 128, 131} {
		for rows := range 6 {
			for variant := range 4 {
				random := func(n int) guarded { return newGuarded(normal(r, n, 1)) }
				x, dy, skip, y, dx := random(rows*c), random(rows*c), random(rows*c), random(rows*c), random(rows*c)
				gain, bias, dgain, dbias, mean, rstd := random(c), random(c), random(c), random(c), random(rows), random(rows)
				if rows > 2 {
					x.s[2*c], dy.s[c] = nan, inf
				}
				b, db, s := bias.s, dbias.s, skip.s
				if variant&1 != 0 {
					b, db = nil, nil
				}
				if variant&2 != 0 {
					s = nil
				}
				wantGain, wantBias := slices.Clone(dgain.s), slices.Clone(dbias.s)
				LayerNorm(y.s, x.s, gain.s, b, mean.s, rstd.s)
				LayerNormBackward(dx.s, s, dy.s, x.s, gain.s, dgain.s, db, mean.s, rstd.s)
				for i := range rows {
					row := func(x []float32) []float32 { return x[i*c:][:c] }
					wantY, wantDx, wantSkip, dbiasOne := make([]float32, c), make([]float32, c), []float32(nil), wantBias
					if s != nil {
						wantSkip = row(s)
					}
					if db == nil {
						dbiasOne = nil
					}
					wantMean, wantRstd := layerNormOne(wantY, row(x.s), gain.s, b)
					LayerNormBackward(wantDx, wantSkip, row(dy.s), row(x.s), gain.s, wantGain, dbiasOne, mean.s[i:i+1], rstd.s[i:i+1])
					sameBits(t, "mean and rstd", []float32{mean.s[i], rstd.s[i]}, []float32{wantMean, wantRstd})
					sameBits(t, "y", row(y.s), wantY)
					sameBits(t, "dx", row(dx.s), wantDx)
				}
				sameBits(t, "dgain", dgain.s, wantGain)
				sameBits(t, "dbias", dbias.s, wantBias)
				inX, inDy, spareGain := slices.Clone(x.s), slices.Clone(dy.s), make([]float32, c)
				LayerNorm(inX, inX, gain.s, b, mean.s, rstd.s)
				sameBits(t, "y in x", inX, y.s)
				LayerNormBackward(inDy, s, inDy, x.s, gain.s, spareGain, nil, mean.s, rstd.s)
				sameBits(t, "dx in dy", inDy, dx.s)
				if s != nil {
					inSkip := slices.Clone(s)
					LayerNormBackward(inSkip, inSkip, dy.s, x.s, gain.s, spareGain, nil, mean.s, rstd.s)
					sameBits(t, "dx in skip", inSkip, dx.s)
				}
				for _, g := range []guarded{x, dy, skip, y, dx, gain, bias, dgain, dbias, mean, rstd} {
					g.check(t, "LayerNorm of rows")
				}
			}
		}
	}
}

func TestLayerNormAllocations(t *testing.T) {
	const rows, c = 3, 65
	x, y, z, mean, rstd := normal(newRand(), rows*c, 1), make([]float32, rows*c), make([]float32, c), make([]float32, rows), make([]float32, rows)
	gain := normal(newRand(), c, 1)
	noAllocations(t, "LayerNorm", func() { LayerNorm(y, x, gain, nil, mean, rstd) })
	noAllocations(t, "LayerNormBackward", func() { LayerNormBackward(y, nil, x, x, gain, z, nil, mean, rstd) })
}
