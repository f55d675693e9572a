package attention

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteDOT writes the token graph for Graphviz: nodes are the characters of the context in reading order, and an edge leads
// from a query to each key with a weight of at least minWeight, the thicker and darker the larger the weight. Each
// selected view is a cluster of its own. A minWeight of 0 or less draws every edge that the causal mask allows.
func WriteDOT(w io.Writer, t *Trace, s Selection, minWeight float64) error {
	views, err := t.checked(s)
	if err != nil {
		return err
	}
	d := dotWriter{w: bufio.NewWriter(w), trace: t, labels: t.labels(), minWeight: minWeight}
	fmt.Fprintf(d.w, "digraph attention {\n\tlabel=%s\n\tlabelloc=t\n", dotQuote(fmt.Sprintf("%s, step %d; weights of at least %g", plain(t.Source), t.Step, minWeight)))
	d.w.WriteString("\tfontname=\"monospace\"\n\tnewrank=true\n\tnodesep=0.15\n\tranksep=1.5\n")
	d.w.WriteString("\tnode [shape=box style=rounded fontname=\"monospace\" width=0.35 height=0.45 margin=0.05]\n")
	d.w.WriteString("\tedge [arrowsize=0.5 constraint=false]\n")
	for i, v := range views {
		d.writeCluster(i, v)
	}
	d.w.WriteString("}\n")
	return d.w.Flush()
}

type dotWriter struct {
	w         *bufio.Writer // keeps the first error until Flush
	trace     *Trace
	labels    []string
	minWeight float64
}

// writeCluster draws one view as a row of nodes. Invisible edges hold the characters in order and the clusters one below the other.
func (d dotWriter) writeCluster(at int, v view) {
	fmt.Fprintf(d.w, "\tsubgraph cluster_%d {\n\t\tlabel=%s\n\t\tlabeljust=l\n\t\tlabelloc=b\n\t\tpencolor=none\n\t\trank=same\n", at, dotQuote(v.Title))
	for i, l := range d.labels {
		fmt.Fprintf(d.w, "\t\tv%d_%d [label=%s tooltip=%s]\n", at, i, dotQuote(fmt.Sprintf("%s\n%d", l, i)), dotQuote(fmt.Sprintf("%d %s", i, l)))
	}
	for i := range len(d.labels) - 1 {
		fmt.Fprintf(d.w, "\t\tv%d_%d -> v%d_%d [style=invis weight=100 constraint=true]\n", at, i, at, i+1)
	}
	d.writeEdges(at, v)
	d.w.WriteString("\t}\n")
	if at > 0 {
		fmt.Fprintf(d.w, "\tv%d_0 -> v%d_0 [style=invis constraint=true]\n", at-1, at)
	}
}

func (d dotWriter) writeEdges(at int, v view) {
	n := len(d.labels)
	for i := range n {
		for j := range i + 1 {
			weight := float64(v.Weights[i*n+j])
			if weight < d.minWeight {
				continue
			}
			tip := fmt.Sprintf("%d %s to %d %s: %.4f", i, d.labels[i], j, d.labels[j], weight)
			fmt.Fprintf(d.w, "\t\tv%d_%d -> v%d_%d [penwidth=%.2f color=%s tooltip=%s]\n", at, i, at, j,
				0.4+4*weight, dotQuote(edgeColour(weight)), dotQuote(tip))
		}
	}
}

// edgeColour fades small weights out, so that the strong ones stand in front; the hue alone says nothing.
func edgeColour(weight float64) string {
	return fmt.Sprintf("#31688E%02X", 40+int(215*Shade(weight)))
}

// dotQuote makes s a quoted string that Graphviz shows as it is: backslashes would start an escape, & an entity.
func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;", "\n", `\n`).Replace(s) + `"`
}
