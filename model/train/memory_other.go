//go:build !linux

package train

// MaxMemory is the largest [Memory] that a trainer should be started for, in bytes: 32 GB, for what the machine has is not
// known here.
func MaxMemory() float64 { return absurdMemory }
