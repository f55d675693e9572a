package train

import "golang.org/x/sys/unix"

// machineMemory is how many bytes this process can have: what the machine has, or what it is allowed, if that is less.
func machineMemory() float64 {
	most := float64(absurdMemory)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		most = min(most, float64(info.Totalram)*float64(info.Unit))
	}
	var allowed unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &allowed) == nil {
		most = min(most, float64(allowed.Cur)) // unlimited is the largest number
	}
	return most
}
