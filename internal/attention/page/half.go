package page

import "math"

const (
	largestHalf        = 65504
	smallestNormalHalf = 0x1p-14
	infiniteHalf       = 0x7c00 // its bits
	significant        = 11     // binary digits, the leading 1 included
)

// half rounds x to the nearest float16 (IEEE 754 binary16), of two equally near ones to the even one, and returns its
// bits. x must not be a NaN; what is too large becomes infinite. web/float16.js is the way back.
func half(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	size := math.Abs(float64(x))
	if size < smallestNormalHalf {
		return sign | uint16(math.RoundToEven(size*0x1p24)) // the numbers below it are 2^-24 apart
	}
	_, exponent := math.Frexp(size)                               // 2^(exponent-1) ≤ size < 2^exponent
	n := math.RoundToEven(math.Ldexp(size, significant-exponent)) // 2^10 ≤ n ≤ 2^11
	bits := (exponent+13)<<10 + int(n)                            // n's leading 1 adds 1 to the exponent, a carry one more
	return sign | uint16(min(bits, infiniteHalf))
}
