//go:build !amd64 || noasm

package f32

func fmaPeak(int) bool { return false }
