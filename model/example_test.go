package model_test

import (
	"fmt"
	"math"

	"chargpt/model"
)

// One head over B, T, C = 4, 8, 32 with head size 16: who looks at whom, and at what values.
func Example_attention() {
	const B, T, HS = 4, 8, 16
	m, err := model.New(model.Config{VocabSize: 10, BlockSize: T, NLayer: 1, NHead: 1, NEmbd: 32, HeadSize: HS, AttnOnly: true}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := m.NewGraph(B, T, model.Inference, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	for i := range g.Tokens {
		g.Tokens[i] = int32(i % 10)
	}
	if err := g.Run(0); err != nil {
		fmt.Println(err)
		return
	}
	weights := g.AttentionWeights(0) // (B, NH, T, T) with NH = 1: (4, 8, 8)
	fmt.Printf("weights: %d numbers for (%d, %d, %d)\n", len(weights), B, T, T)
	ones, zeros := 0, 0 // rows that sum to 1, weights above the diagonal that are 0
	for i := range B * T {
		row, query := weights[i*T:(i+1)*T], i%T
		var sum float64
		for key, w := range row {
			sum += float64(w)
			if key > query && w == 0 {
				zeros++
			}
		}
		if math.Abs(sum-1) < 1e-6 {
			ones++
		}
		if i < 3 { // of the first sequence
			fmt.Printf("query %d: %.3f\n", query, row)
		}
	}
	fmt.Printf("%d of %d rows sum to 1, %d of %d weights above the diagonal are 0\n", ones, B*T, zeros, B*T*(T-1)/2)
	var values []float32                                  // (B, T, HS)
	for qkv := g.QKV(0); len(qkv) > 0; qkv = qkv[3*HS:] { // a row is Q | K | V of one token
		values = append(values, qkv[2*HS:3*HS]...)
	}
	fmt.Printf("values: %d numbers for (%d, %d, %d)\n", len(values), B, T, HS)
	// Output:
	// weights: 256 numbers for (4, 8, 8)
	// query 0: [1.000 0.000 0.000 0.000 0.000 0.000 0.000 0.000]
	// query 1: [0.496 0.504 0.000 0.000 0.000 0.000 0.000 0.000]
	// query 2: [0.332 0.335 0.332 0.000 0.000 0.000 0.000 0.000]
	// 32 of 32 rows sum to 1, 112 of 112 weights above the diagonal are 0
	// values: 512 numbers for (4, 8, 16)
}
