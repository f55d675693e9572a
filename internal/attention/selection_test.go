package attention

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseSelection(t *testing.T) {
	for s, want := range map[string]int{"all": All, "mean": Mean, "0": 0, "3": 3} {
		if got, err := ParseSelection(s, 4); err != nil || got != want {
			t.Errorf("ParseSelection(%q, 4) = %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"4", "-1", "", "first", "1.0", "All", "99999999999999999999"} {
		_, err := ParseSelection(s, 4)
		if want := fmt.Sprintf(`%q: want 0 to 3 (counting from 0), "all" or "mean"`, s); err == nil || err.Error() != want {
			t.Errorf("ParseSelection(%q, 4): error %v, want %s", s, err, want)
		}
	}
	if _, err := ParseSelection("1", 1); err == nil || !strings.Contains(err.Error(), "want 0 (counting") {
		t.Errorf("one head: error %v", err)
	}
	if _, err := ParseSelection("0", 0); err == nil || !strings.Contains(err.Error(), "the model has none") {
		t.Errorf("no layers: error %v", err)
	}
}

func TestViews(t *testing.T) {
	tr := testTrace("abcab", 2, 3)
	for _, c := range []struct {
		s      Selection
		titles []string
	}{
		{EveryHead(), []string{"layer 0 head 0", "layer 0 head 1", "layer 0 head 2", "layer 1 head 0", "layer 1 head 1", "layer 1 head 2"}},
		{PerLayer(), []string{"layer 0, mean of 3 heads", "layer 1, mean of 3 heads"}},
		{Selection{Mean, 2}, []string{"head 2, mean of 2 layers"}},
		{Selection{Mean, Mean}, []string{"mean of 2 layers × 3 heads"}},
		{Selection{1, 2}, []string{"layer 1 head 2"}},
		{Selection{}, []string{"layer 0 head 0"}},
	} {
		views, err := tr.views(c.s)
		if err != nil {
			t.Fatal(err)
		}
		var titles []string
		for _, v := range views {
			titles = append(titles, v.Title)
			if err := validateRow(v.Weights[10:15], v.Weights[10:15], 2); err != nil {
				t.Errorf("%s: %v", v.Title, err)
			}
		}
		if strings.Join(titles, "|") != strings.Join(c.titles, "|") {
			t.Errorf("views(%v) = %q, want %q", c.s, titles, c.titles)
		}
	}
}

func TestViewsOfOneHead(t *testing.T) {
	views, err := testTrace("abc", 2, 1).views(PerLayer())
	if err != nil || len(views) != 2 || views[1].Title != "layer 1 head 0" || views[1].source == nil {
		t.Errorf("the mean over one head must be that head: %v, %v", views, err)
	}
}

func TestViewsOutOfRange(t *testing.T) {
	tr := testTrace("abc", 2, 3)
	for s, want := range map[Selection]string{
		{2, 0}:  "no layer 2: want 0 to 1, counting from 0",
		{0, 3}:  "no head 3: want 0 to 2, counting from 0",
		{-3, 0}: "no layer -3",
	} {
		if _, err := tr.views(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("views(%v): error %v, want %q", s, err, want)
		}
	}
	if _, err := testTrace("abc", 0, 1).views(Selection{}); err == nil || !strings.Contains(err.Error(), "the model has none") {
		t.Errorf("layer 0 of no layers: error %v", err)
	}
}
