package attention

import (
	"image/color"
	"math"
	"testing"
)

func TestViridis(t *testing.T) {
	for x, want := range map[float64]color.RGBA{
		-1: {0x44, 0x01, 0x54, 255}, 0: {0x44, 0x01, 0x54, 255}, 1: {0xFD, 0xE7, 0x25, 255}, 2: {0xFD, 0xE7, 0x25, 255},
		0.5: {0x23, 0x90, 0x8C, 255}, // between the two middle stops
	} {
		if got := Viridis(x); got != want {
			t.Errorf("Viridis(%v) = %v, want %v", x, got, want)
		}
	}
}

// TestViridisLightness: larger weights must be lighter, also in grey.
func TestViridisLightness(t *testing.T) {
	last := math.Inf(-1)
	for i := range 101 {
		c := Viridis(float64(i) / 100)
		light := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
		if light < last-0.5 { // half a step of rounding
			t.Fatalf("at %d %% lightness falls from %.1f to %.1f", i, last, light)
		}
		last = light
	}
}

func TestRampIndex(t *testing.T) {
	for weight, want := range map[float64]int{0: 0, 0.012: 0, 0.0124: 1, 0.25: 4, 0.79: 7, 0.8: 8, 1: 8, 1.00001: 8} {
		if got := rampIndex(weight); got != want {
			t.Errorf("rampIndex(%v) = %d, want %d", weight, got, want)
		}
	}
}
