package attention

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// strongest are the positions of the (at most) k largest weights of a query's row, the largest first; of equal ones the nearer.
func strongest(row []float32, query, k int) []int {
	keys := make([]int, query+1)
	for i := range keys {
		keys[i] = query - i
	}
	return largest(row, keys, k)
}

// largest are the (at most) k indices whose numbers are largest, the largest first; of equal ones the first.
func largest(x []float32, indices []int, k int) []int {
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(x[b], x[a]) })
	return indices[:min(k, len(indices))]
}

// writeInquiry lists each query's strongest keys: a line a key with its scores for a head, a line a query for a mean.
func writeInquiry(b *strings.Builder, t *Trace, v view, o TextOptions) {
	labels := t.labels()
	q := inquiry{trace: t, view: v, labels: labels, digits: len(fmt.Sprint(len(labels) - 1)), label: widest(labels)}
	if v.source != nil {
		q.writeScored(b, o.top())
		return
	}
	q.writeMean(b, o.top(), o.width())
}

type inquiry struct {
	trace         *Trace
	view          view
	labels        []string
	digits, label int
}

func (q inquiry) row(i int) []float32 {
	n := len(q.labels)
	return q.view.Weights[i*n : (i+1)*n]
}

// character is a position with its label, all of one width.
func (q inquiry) character(i int) string {
	return fmt.Sprintf("%*d %s", q.digits, i, padRight(q.labels[i], q.label))
}

func (q inquiry) writeScored(b *strings.Builder, top int) {
	margin := q.digits + 1 + q.label
	fmt.Fprintf(b, "%s  %s  %9s  %9s  %6s\n", padRight("query", max(5, margin)), padRight("key", max(5, margin)), "q·k", "scaled", "weight")
	for i := range q.labels {
		for rank, j := range strongest(q.row(i), i, top) {
			query := ""
			if rank == 0 {
				query = q.character(i)
			}
			score, weight := q.view.source.Scores[i*len(q.labels)+j], q.row(i)[j]
			line := fmt.Sprintf("%s  %s  %9.3f  %9.3f  %6.3f  %s", padRight(query, max(5, margin)), padRight(q.character(j), max(5, margin)),
				score, q.trace.scaled(score), weight, bar(float64(weight), 10))
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
}

func (q inquiry) writeMean(b *strings.Builder, top, width int) {
	entry := 3 + q.digits + 1 + q.label + 6
	perLine := max(1, (width-q.digits-1-q.label)/entry)
	b.WriteString("query, then its strongest keys with their weights\n")
	for i := range q.labels {
		b.WriteString(q.character(i))
		for rank, j := range strongest(q.row(i), i, top) {
			if rank > 0 && rank%perLine == 0 {
				b.WriteString("\n" + strings.Repeat(" ", q.digits+1+q.label))
			}
			fmt.Fprintf(b, "   %s %.3f", q.character(j), q.row(i)[j])
		}
		b.WriteByte('\n')
	}
}
