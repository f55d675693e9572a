package f32

// take returns the first n elements, and panics if there are fewer: x[:n] would reach into what x has room for.
func take(x []float32, n int) []float32 {
	if len(x) < n {
		panic("f32: slice is too short")
	}
	return x[:n]
}

// Add computes dst = x + y over the length of dst; dst may be x or y.
func Add(dst, x, y []float32) {
	n := len(dst)
	add(dst, take(x, n), take(y, n))
}

// Multiply computes dst = x·y, element by element, over the length of dst; dst may be x or y.
func Multiply(dst, x, y []float32) {
	n := len(dst)
	multiply(dst, take(x, n), take(y, n))
}

// AddScaled computes dst += alpha·x over the length of dst.
func AddScaled(dst []float32, alpha float32, x []float32) {
	addScaled(dst, alpha, take(x, len(dst)))
}

// Scale computes dst = alpha·dst.
func Scale(dst []float32, alpha float32) {
	scale(dst, alpha)
}

// Rotate turns pairs of channels in place (Su et al. 2021, section 3.2.2): x is heads side by side, each of 2·len(cos)
// channels, of which j and len(cos)+j are a pair,
//
//	x₁, x₂ = x₁ cos − x₂ sin, x₁ sin + x₂ cos
func Rotate(x, cos, sin []float32) {
	if len(cos) == 0 || len(x)%(2*len(cos)) != 0 {
		panic("f32: heads of two channels for each cosine")
	}
	if len(x) > 0 {
		rotate(x, cos, take(sin, len(cos)))
	}
}

// Mirror makes x (n, n) symmetric: it copies what lies below the diagonal to its place above.
func Mirror(x []float32, n int) {
	mirror(take(x, n*n), n)
}

// sumBlock is how many squares are summed in float32 before float64 takes over.
const sumBlock = 1024

// SumSquares returns Σ x², in float64 over partial sums of at most sumBlock values.
func SumSquares(x []float32) float64 {
	total := 0.0
	for len(x) > 0 {
		n := min(len(x), sumBlock)
		total += float64(dot(x[:n], x[:n]))
		x = x[n:]
	}
	return total
}
