package f32

import (
	"fmt"
	"math"
	"testing"
)

// causalCase is the operands of one causal product, in guarded memory.
type causalCase struct {
	m, first, n   int // S is m×(first+m); the other dimension
	spare         int // rows that B has beyond the first+m that are used
	pad           int // of every stride
	alpha         float32
	s, b, c       guarded
	lds, ldb, ldc int
}

func (c *causalCase) String() string {
	return fmt.Sprintf("m=%d first=%d n=%d pad=%d alpha=%v", c.m, c.first, c.n, c.pad, c.alpha)
}

func eachCausalCase(f func(*causalCase)) {
	r := newRand()
	sizes := []int{1, 2, 3, 5, 6, 7, 8, 9, 13, 16, 17, 31, 48, 65}
	count := 300
	if slow() {
		count = 40
	}
	for range count {
		c := &causalCase{m: choose(r, sizes...), first: choose(r, append(sizes, 0, 0, 0, 32, 96)...), n: choose(r, append(sizes, 20, 24, 64)...),
			spare: choose(r, 0, 0, 3, 40), pad: choose(r, 0, 0, 1, 7), alpha: choose[float32](r, 1, 0.5, -2)}
		width := c.first + c.m
		c.lds, c.ldb, c.ldc = width+c.pad, c.n+c.pad, c.n+c.pad
		c.s = newGuarded(normal(r, (c.m-1)*c.lds+width, 1))
		for i := range c.m { // a strip of a lower triangular matrix
			clear(c.s.s[i*c.lds+c.first+i+1 : i*c.lds+width])
		}
		c.b = newGuarded(normal(r, (width+c.spare-1)*c.ldb+c.n, 1))
		f(c)
	}
}

// checkElement compares with Σ x[p]·y[p] over k terms in float64.
func (c *causalCase) checkElement(t *testing.T, name string, i, j int, got float32, before float64, k int, term func(p int) (x, y float32)) {
	t.Helper()
	want, size := before, math.Abs(before)
	for p := range k {
		x, y := term(p)
		want += float64(c.alpha) * float64(x) * float64(y)
		size += math.Abs(float64(c.alpha) * float64(x) * float64(y))
	}
	if d := math.Abs(float64(got) - want); !(d <= 4e-7*size*math.Sqrt(float64(k)+4)) {
		t.Fatalf("%s, %v: [%d,%d] = %v, want %v", name, c, i, j, got, want)
	}
}

func TestCausalScores(t *testing.T) {
	eachCausalCase(func(c *causalCase) {
		// A is m×n, B is n×(first+m), given as its transpose.
		r := newRand()
		width, k := c.first+c.m, c.n
		lda := k + c.pad
		a := newGuarded(normal(r, (c.m-1)*lda+k, 1))
		for i := range c.s.s {
			c.s.s[i] = nan // only written
		}
		between := append([]float32(nil), c.s.s...)
		var p Panels
		p.Pack(true, k, width+c.spare, c.b.s, c.ldb)
		CausalScores(c.m, c.first, c.alpha, a.s, lda, &p, c.s.s, c.lds)
		for i := range c.m {
			for j := range c.first + i + 1 {
				c.checkElement(t, "CausalScores", i, j, c.s.s[i*c.lds+j], 0, k, func(p int) (x, y float32) { return a.s[i*lda+p], c.b.s[j*c.ldb+p] })
			}
			if i < c.m-1 {
				sameBits(t, "between the rows", c.s.s[i*c.lds+width:(i+1)*c.lds], between[i*c.lds+width:(i+1)*c.lds])
			}
		}
		c.s.check(t, "S")
		a.check(t, "A")
		c.b.check(t, "B")
	})
}

func TestCausalSum(t *testing.T) {
	eachCausalCase(func(c *causalCase) {
		var p Panels
		p.Pack(false, c.first+c.m+c.spare, c.n, c.b.s, c.ldb)
		c.c = newGuarded(make([]float32, (c.m-1)*c.ldc+c.n))
		for i := range c.c.s {
			c.c.s[i] = nan
		}
		before := append([]float32(nil), c.c.s...)
		CausalSum(c.m, c.first, c.alpha, c.s.s, c.lds, &p, c.c.s, c.ldc)
		for i := range c.m {
			for j := range c.n {
				c.checkElement(t, "CausalSum", i, j, c.c.s[i*c.ldc+j], 0, c.first+i+1, func(p int) (x, y float32) { return c.s.s[i*c.lds+p], c.b.s[p*c.ldb+j] })
			}
		}
		c.checkMemory(t, c.m, before)
	})
}

func TestCausalSumTransposed(t *testing.T) {
	for _, add := range []bool{false, true} {
		eachCausalCase(func(c *causalCase) {
			var p Panels
			width := c.first + c.m
			p.Pack(false, width+c.spare, c.n, c.b.s, c.ldb)
			c.c = newGuarded(normal(newRand(), (width-1)*c.ldc+c.n, 1))
			if !add {
				for i := range c.c.s {
					c.c.s[i] = nan
				}
			}
			before := append([]float32(nil), c.c.s...)
			CausalSumTransposed(c.m, c.first, c.alpha, c.s.s, c.lds, &p, add, c.c.s, c.ldc)
			for i := range width {
				for j := range c.n {
					start := 0.0
					if add {
						start = float64(before[i*c.ldc+j])
					}
					c.checkElement(t, "CausalSumTransposed", i, j, c.c.s[i*c.ldc+j], start, c.m,
						func(p int) (x, y float32) { return c.s.s[p*c.lds+i], c.b.s[(c.first+p)*c.ldb+j] })
				}
			}
			c.checkMemory(t, width, before)
		})
	}
}

// checkMemory checks the guards, and that nothing was written between the rows of C, where other heads are.
func (c *causalCase) checkMemory(t *testing.T, rows int, before []float32) {
	t.Helper()
	c.s.check(t, "S")
	c.b.check(t, "B")
	c.c.check(t, "C")
	for i := range rows - 1 {
		sameBits(t, "between the rows of C", c.c.s[i*c.ldc+c.n:(i+1)*c.ldc], before[i*c.ldc+c.n:(i+1)*c.ldc])
	}
}

// A NaN or an infinity of a row stays visible in every value that depends on it, and in no other.
func TestCausalNotFinite(t *testing.T) {
	const m, first, n, k = 20, 5, 20, 9
	r := newRand()
	for _, bad := range []float32{nan, inf} {
		s, b := make([]float32, m*(first+m)), normal(r, (first+m)*n, 1)
		for i := range m {
			copy(s[i*(first+m):], normal(r, first+i+1, 1))
		}
		const row = 11
		s[row*(first+m)+3] = bad
		var p Panels
		p.Pack(false, first+m, n, b, n)
		c := make([]float32, m*n)
		CausalSum(m, first, 1, s, first+m, &p, c, n)
		for i, v := range c {
			if finite := !isNaN(v) && v < inf && v > -inf; finite == (i/n == row) {
				t.Fatalf("CausalSum with %v in row %d: [%d,%d] = %v", bad, row, i/n, i%n, v)
			}
		}
		ct := make([]float32, (first+m)*n)
		CausalSumTransposed(m, first, 1, s, first+m, &p, false, ct, n)
		for i, v := range ct {
			if finite := !isNaN(v) && v < inf && v > -inf; finite == (i/n == 3) {
				t.Fatalf("CausalSumTransposed with %v in column 3: [%d,%d] = %v", bad, i/n, i%n, v)
			}
		}
		s[row*(first+m)+3] = 1
		b[(first+row)*n+2] = bad // row 5+11 of B: the values of that position
		p.Pack(false, first+m, n, b, n)
		CausalSum(m, first, 1, s, first+m, &p, c, n)
		for i := range m {
			if v := c[i*n+2]; i >= row && !isNaN(v) && v < inf && v > -inf || i < row-5 && (isNaN(v) || v == inf || v == -inf) {
				t.Fatalf("CausalSum with %v in row %d of B: [%d,2] = %v", bad, first+row, i, v)
			}
		}
		a := normal(r, m*k, 1)
		a[row*k+4] = bad
		p.Pack(true, k, first+m, normal(r, (first+m)*k, 1), k)
		CausalScores(m, first, 1, a, k, &p, s, first+m)
		for i := range m {
			for j, v := range s[i*(first+m):][:first+i+1] {
				if finite := !isNaN(v) && v < inf && v > -inf; finite == (i == row) {
					t.Fatalf("CausalScores with %v in row %d: [%d,%d] = %v", bad, row, i, j, v)
				}
			}
		}
	}
}

// The kernels and the portable twins agree, on products of every height and depth.
func TestCausalTwins(t *testing.T) {
	eachCausalCase(func(c *causalCase) {
		width := c.first + c.m
		var p, q Panels
		p.Pack(false, width+c.spare, c.n, c.b.s, c.ldb)
		q.Pack(true, c.n, width+c.spare, c.b.s, c.ldb)
		a := normal(newRand(), c.m*c.n, 1)
		got, want := make([]float32, width*c.n), make([]float32, width*c.n)
		check := func(name string, rows, cols int, lower bool) {
			t.Helper()
			for i := range rows {
				for j := range cols {
					if !lower || j <= c.first+i {
						near(t, fmt.Sprintf("%s, %v", name, c), i*cols+j, got[i*cols+j], float64(want[i*cols+j]), 1e-5, 1e-4)
					}
				}
			}
		}
		CausalSum(c.m, c.first, c.alpha, c.s.s, c.lds, &p, got, c.n)
		causalSumPortable(c.m, c.first, c.alpha, c.s.s, c.lds, &p, want, c.n)
		check("CausalSum", c.m, c.n, false)
		CausalSumTransposed(c.m, c.first, c.alpha, c.s.s, c.lds, &p, true, got, c.n)
		causalSumTransposedPortable(c.m, c.first, c.alpha, c.s.s, c.lds, &p, true, want, c.n)
		check("CausalSumTransposed", width, c.n, false)
		got, want = make([]float32, c.m*width), make([]float32, c.m*width)
		CausalScores(c.m, c.first, c.alpha, a, c.n, &q, got, width)
		causalScoresPortable(c.m, c.first, c.alpha, a, c.n, &q, want, width)
		check("CausalScores", c.m, width, true)
	})
}

// Panels are those of the portable twin, of every width and depth, whatever their memory held before.
func TestPanels(t *testing.T) {
	r := newRand()
	var p Panels
	for _, k := range []int{1, 2, 7, 8, 9, 16, 31, 33} {
		for _, n := range []int{1, 5, 8, 15, 16, 17, 32, 40} {
			for _, transB := range []bool{false, true} {
				rows, cols := k, n
				if transB {
					rows, cols = n, k
				}
				ldb := cols + choose(r, 0, 3)
				b := newGuarded(normal(r, (rows-1)*ldb+cols, 1))
				p.Pack(transB, k, n, b.s, ldb)
				for j := 0; j < n; j += panelCols {
					want := make([]float32, k*panelCols)
					packPanelPortable(transB, k, j, min(panelCols, n-j), b.s, ldb, want)
					sameBits(t, fmt.Sprintf("transB=%v k=%d n=%d, the panel of column %d", transB, k, n, j), p.panel(j), want)
				}
				b.check(t, "B")
			}
		}
	}
}

// Operands that do not fit panic before anything is read.
func TestCausalPanics(t *testing.T) {
	x := make([]float32, 100)
	var p Panels
	p.Pack(false, 4, 3, x, 3)
	for name, f := range map[string]func(){
		"no rows":          func() { CausalSum(0, 1, 1, x, 1, &p, x, 3) },
		"a negative first": func() { CausalSum(2, -1, 1, x, 4, &p, x, 3) },
		"B too short":      func() { CausalSum(2, 3, 1, x, 5, &p, x, 3) },
		"S too short":      func() { CausalSumTransposed(2, 2, 1, x[:7], 4, &p, false, x, 3) },
		"C too short":      func() { CausalSumTransposed(2, 2, 1, x, 4, &p, false, x[:11], 3) },
		"B too narrow":     func() { CausalScores(2, 2, 1, x, 4, &p, x, 4) },
		"scores too short": func() { CausalSoftmax(4, 4, x[:31], 8) },
		"dW too short":     func() { CausalSoftmaxBackward(4, 4, x[:31], 8, x, 8) },
		"W too short":      func() { CausalSoftmaxBackward(2, 2, x, 4, x[:7], 4) },
		"A too short":      func() { CausalScores(2, 1, 1, x[:7], 4, &p, x, 3) },
		"empty panels":     func() { CausalScores(1, 0, 1, x, 1, new(Panels), x, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestCausalAllocations(t *testing.T) {
	const m, first, n = 48, 16, 20
	s, b, c := make([]float32, m*(first+m)), make([]float32, (first+m)*n), make([]float32, (first+m)*n)
	var p, q Panels
	noAllocations(t, "causal products", func() {
		p.Pack(false, first+m, n, b, n)
		q.Pack(true, n, first+m, b, n)
		CausalScores(m, first, 1, c, n, &q, s, first+m)
		CausalSoftmax(m, first, s, first+m)
		CausalSoftmaxBackward(m, first, s, first+m, s, first+m)
		CausalSum(m, first, 1, s, first+m, &p, c, n)
		CausalSumTransposed(m, first, 1, s, first+m, &p, true, c, n)
	})
}
