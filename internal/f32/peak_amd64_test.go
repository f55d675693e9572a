//go:build amd64 && !noasm

package f32

func fmaPeak(n int) bool {
	if haveAVX2 {
		fmaPeakAVX2(n)
	}
	return haveAVX2
}
