package attention

import (
	"image/color"
	"math"
)

// Shade is where a weight lies on a colour scale, from 0 to 1: its square root. Attention over many keys is mostly small
// weights, which a linear scale would show as one colour; the same weight has the same shade in every head and picture.
func Shade(weight float64) float64 { return math.Sqrt(min(1, max(0, weight))) }

// Viridis is matplotlib's default colour map at x from 0 (dark violet) to 1 (yellow). Its lightness rises evenly, so that
// it reads the same to colour-blind people and in grey.
func Viridis(x float64) color.RGBA {
	stops := [...][3]float64{
		{0x44, 0x01, 0x54}, {0x48, 0x28, 0x78}, {0x3E, 0x4A, 0x89}, {0x31, 0x68, 0x8E}, {0x26, 0x82, 0x8E},
		{0x1F, 0x9E, 0x89}, {0x35, 0xB7, 0x79}, {0x6D, 0xCD, 0x59}, {0xB4, 0xDE, 0x2C}, {0xFD, 0xE7, 0x25},
	}
	at := min(1, max(0, x)) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	mix := func(c int) uint8 {
		return uint8(math.Round(stops[i][c] + (stops[i+1][c]-stops[i][c])*(at-float64(i))))
	}
	return color.RGBA{mix(0), mix(1), mix(2), 255}
}

// WeightColour is the colour of a weight in every heat map: Viridis at its Shade.
func WeightColour(weight float64) color.RGBA { return Viridis(Shade(weight)) }
