package train

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// MaxMemory is the largest [Memory] that a trainer should be started for, in bytes: nine tenths of what the machine, or the
// container, can give now, and 32 GB at most.
func MaxMemory() float64 {
	most := float64(absurdMemory)
	if available := availableMemory(); available > 0 {
		most = min(most, 0.9*available)
	}
	limit, _ := os.ReadFile("/sys/fs/cgroup/memory.max") // "max" or a number
	if bytes, err := strconv.ParseFloat(strings.TrimSpace(string(limit)), 64); err == nil {
		most = min(most, 0.9*bytes)
	}
	return most
}

// availableMemory is how many bytes programs can still have, swap included; 0 if the kernel does not say.
func availableMemory() (bytes float64) {
	content, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(content)) {
		var name string
		var kB float64
		fmt.Sscan(line, &name, &kB)
		if name == "MemAvailable:" || name == "SwapFree:" {
			bytes += 1024 * kB
		}
	}
	return bytes
}
