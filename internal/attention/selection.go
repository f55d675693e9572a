package attention

import (
	"fmt"
	"math"
	"strconv"
)

// The values of a [Selection]'s fields that are not an index.
const (
	All  = -1 // each one for itself
	Mean = -2 // one view: the mean of the weights
)

// Selection says which layers and heads to show. Each field is an index, counting from 0, or [All], or [Mean]:
// {All, Mean} is the mean over the heads of each layer, {Mean, 3} the mean over the layers of their head 3.
// The zero value is head 0 of layer 0.
type Selection struct{ Layer, Head int }

// EveryHead selects each head of each layer.
func EveryHead() Selection { return Selection{Layer: All, Head: All} }

// PerLayer selects, for each layer, the mean over its heads.
func PerLayer() Selection { return Selection{Layer: All, Head: Mean} }

// ParseSelection reads one field of a [Selection]: "all", "mean", or an index below limit.
func ParseSelection(s string, limit int) (int, error) {
	switch s {
	case "all":
		return All, nil
	case "mean":
		return Mean, nil
	}
	if i, err := strconv.Atoi(s); err == nil && 0 <= i && i < limit {
		return i, nil
	}
	return 0, fmt.Errorf(`%q: want %s (counting from 0), "all" or "mean"`, s, indexRange(limit))
}

func indexRange(limit int) string {
	switch {
	case limit < 1:
		return "none, the model has none"
	case limit == 1:
		return "0"
	}
	return fmt.Sprintf("0 to %d", limit-1)
}

// view is one heat map's worth of attention: a head, or a mean of heads.
type view struct {
	Layer, Head int // an index, or Mean
	Title       string
	Weights     []float32 // (T, T)
	source      *Head     // the one head that this is; nil for a mean
}

// views are the heads and means that s selects, layer by layer.
func (t *Trace) views(s Selection) ([]view, error) {
	if t.Shape.NLayer == 0 && s.Layer < 0 {
		return nil, nil // a model of no layers has nothing to show, which is not an error
	}
	layers, err := choose("layer", s.Layer, t.Shape.NLayer)
	if err != nil {
		return nil, err
	}
	heads, err := choose("head", s.Head, t.Shape.NHead)
	if err != nil {
		return nil, err
	}
	var out []view
	for _, ls := range layers {
		for _, hs := range heads {
			out = append(out, t.view(ls, hs))
		}
	}
	return out, nil
}

// choose turns a field of a Selection into groups of indexes: one group a view.
func choose(what string, field, limit int) ([][]int, error) {
	switch {
	case field != All && field != Mean && (field < 0 || field >= limit):
		return nil, fmt.Errorf("attention: no %s %d: want %s, counting from 0", what, field, indexRange(limit))
	case field >= 0:
		return [][]int{{field}}, nil
	}
	var each, one [][]int
	one = [][]int{nil}
	for i := range limit {
		each = append(each, []int{i})
		one[0] = append(one[0], i)
	}
	if field == All {
		return each, nil
	}
	return one, nil
}

// view is the mean over the given heads of the given layers. A mean over one is that one, with its scores.
func (t *Trace) view(layers, heads []int) view {
	v := view{Layer: Mean, Head: Mean, Title: fmt.Sprintf("mean of %d layers × %d heads", len(layers), len(heads))}
	if len(layers) == 1 {
		v.Layer = layers[0]
		v.Title = fmt.Sprintf("layer %d, mean of %d heads", v.Layer, len(heads))
	}
	if len(heads) == 1 {
		v.Head = heads[0]
		v.Title = fmt.Sprintf("head %d, mean of %d layers", v.Head, len(layers))
	}
	if v.Layer >= 0 && v.Head >= 0 {
		v.Title = fmt.Sprintf("layer %d head %d", v.Layer, v.Head)
		v.source = &t.Heads[v.Layer][v.Head]
		v.Weights = v.source.Weights
		return v
	}
	v.Weights = t.meanWeights(layers, heads)
	return v
}

func (t *Trace) meanWeights(layers, heads []int) []float32 {
	sum := make([]float64, len(t.Tokens)*len(t.Tokens))
	for _, l := range layers {
		for _, h := range heads {
			for i, w := range t.Heads[l][h].Weights {
				sum[i] += float64(w)
			}
		}
	}
	mean := make([]float32, len(sum))
	for i, s := range sum {
		mean[i] = float32(s / float64(len(layers)*len(heads)))
	}
	return mean
}

// scaled is a raw score as the softmax sees it: divided by √head_size.
func (t *Trace) scaled(score float32) float32 {
	return float32(float64(score) / math.Sqrt(float64(t.Shape.HeadSize)))
}

// checked validates t and returns the views that s selects: what every renderer starts with.
func (t *Trace) checked(s Selection) ([]view, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return t.views(s)
}
