package cli

import "testing"

func TestHint(t *testing.T) {
	const message = "train first (go run ./cmd/train -h), then go run ./cmd/sample"
	for _, tt := range []struct{ name, started, executable, cache, want string }{
		{"go run", "/tmp/go-build1/b001/exe/train", "/tmp/go-build1/b001/exe/train", "", message},
		{"go run from the cache", "/c/ab/12-d/train", "/c/ab/12-d/train", "/c", message},
		{"unknown", "train", "", "", message},
		{"a folder of binaries", "bin/train", "/home/a/chargpt/bin/train", "/c", "train first (bin/train -h), then bin/sample"},
		{"on the path", "train", "/home/a/go/bin/train", "", "train first (train -h), then sample"},
	} {
		if got := hint(message, tt.started, tt.executable, tt.cache); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
