package page

import (
	"errors"
	"fmt"

	"chargpt/internal/attention"
)

// checkSeries reports what would make a page of these traces misleading or broken.
func checkSeries(traces []*attention.Trace) error {
	for i, t := range traces {
		if err := checkTrace(t); err != nil {
			return fmt.Errorf("page: trace %d: %w", i, err)
		}
		if first := traces[0]; t.Shape != first.Shape || len(t.Tokens) != len(first.Tokens) {
			return fmt.Errorf("page: trace %d has another shape or length than trace 0", i)
		}
	}
	return nil
}

func checkTrace(t *attention.Trace) error {
	if t == nil {
		return errors.New("no trace")
	}
	return t.Validate()
}
