package ops

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the package's tests if one leaves a goroutine behind; helpers of ForRange end soon after their work.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
