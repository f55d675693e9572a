package trace

import (
	"errors"

	"chargpt/model"
)

// maxGraphs is how many lengths keep their graph: somebody who types needs a new one with every character, but goes back
// and forth between few.
const maxGraphs = 8

// graphs keeps the graphs of the lengths that were asked for last: a graph is for one length.
type graphs struct {
	model *model.Model
	kept  []*model.Graph // the last used at the end
}

// of returns the graph of one sequence of n tokens.
func (g *graphs) of(n int) (*model.Graph, error) {
	for i, graph := range g.kept {
		if graph.T == n {
			g.kept = append(append(g.kept[:i], g.kept[i+1:]...), graph)
			return graph, nil
		}
	}
	graph, err := g.model.NewGraph(1, n, model.Inference, 0)
	if err != nil {
		return nil, err
	}
	if len(g.kept) == maxGraphs {
		if err := g.kept[0].Close(); err != nil {
			return nil, errors.Join(err, graph.Close())
		}
		g.kept = g.kept[1:]
	}
	g.kept = append(g.kept, graph)
	return graph, nil
}

func (g *graphs) close() error {
	var err error
	for _, graph := range g.kept {
		err = errors.Join(err, graph.Close())
	}
	g.kept = nil
	return err
}
