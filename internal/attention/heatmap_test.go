package attention

import (
	"strings"
	"testing"
)

// TestHeatMapAlignment: whatever the labels' widths, every row's cells start at the same column and the map fits the terminal.
func TestHeatMapAlignment(t *testing.T) {
	for _, text := range []string{"hello", hostile, "日本語のテキスト", strings.Repeat("abcde\n", 30)} {
		for _, width := range []int{0, 20, 40, 80} {
			tr := testTrace(text, 1, 1)
			o := TextOptions{Width: width}
			g := newGrid(tr.labels(), o.width())
			var b strings.Builder
			writeHeatMap(&b, tr, tr.view([]int{0}, []int{0}), o)
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			rows := lines[len(lines)-(g.to-g.from):]
			for i, row := range rows {
				if want := g.margin() + (i+1)*g.cell; columns(row) != want {
					t.Errorf("%q in %d columns: row %d has %d, want %d: %q", text, width, i, columns(row), want, row)
				}
				if columns(row) > o.width() {
					t.Errorf("%q in %d columns: row %d has %d", text, width, i, columns(row))
				}
			}
		}
	}
}

func TestNewGrid(t *testing.T) {
	narrow := make([]string, 64)
	wide := make([]string, 64)
	for i := range narrow {
		narrow[i], wide[i] = "a", "日"
	}
	for _, c := range []struct {
		labels           []string
		width, cell, cut int
	}{
		{narrow, 200, 2, 0}, {narrow, 80, 1, 0}, {narrow, 40, 1, 29}, {wide, 80, 2, 27}, {narrow[:1], 20, 2, 0},
	} {
		if g := newGrid(c.labels, c.width); g.cell != c.cell || g.from != c.cut {
			t.Errorf("%d labels %s in %d columns: cells of %d from %d, want %d from %d", len(c.labels), c.labels[0], c.width, g.cell, g.from, c.cell, c.cut)
		}
	}
}
