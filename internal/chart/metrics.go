package chart

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
)

// Columns of metrics.csv, as model/train writes them.
const (
	iteration    = "iteration"
	trainLoss    = "train_loss"
	valLoss      = "val_loss"
	bigramLoss   = "bigram_loss"
	learningRate = "learning_rate"
)

// table is a metrics file: a number a row for each column; NaN where there is none.
type table map[string][]float64

// readTable reads a metrics file. A row that a crash cut short is left out.
func readTable(path string) (table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := csv.NewReader(file)
	header, err := r.Read()
	if err != nil || !slices.Contains(header, iteration) || !slices.Contains(header, trainLoss) {
		return nil, fmt.Errorf("%s is no metrics file: its first line must name the columns %s and %s", path, iteration, trainLoss)
	}
	t := table{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if errors.Is(err, csv.ErrFieldCount) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for i, name := range header {
			t[name] = append(t[name], number(row[i]))
		}
	}
	if len(t.points(trainLoss)) == 0 {
		return nil, fmt.Errorf("%s has no evaluation to draw", path)
	}
	return t, nil
}

// number is a cell's; NaN for one that is empty, or no number that can be drawn.
func number(cell string) float64 {
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// points are the cells of a column over the iterations, without those that are empty.
func (t table) points(column string) (points plotter.XYs) {
	for i, y := range t[column] {
		if x := t[iteration][i]; !math.IsNaN(x) && !math.IsNaN(y) {
			points = append(points, plotter.XY{X: x, Y: y})
		}
	}
	return points
}
