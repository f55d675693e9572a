// Package attention renders what the attention heads of one forward pass did: as text for a terminal, JSON, CSV,
// PNG, DOT and HTML. It knows nothing of the model or its graph: a [Trace] is plain numbers.
package attention

// Shape is the configuration of the traced model, as far as a reader of its attention needs it.
type Shape struct {
	NLayer    int    `json:"n_layer"`
	NHead     int    `json:"n_head"`
	NEmbd     int    `json:"n_embd"`
	HeadSize  int    `json:"head_size"`
	BlockSize int    `json:"block_size"`
	VocabSize int    `json:"vocab_size"`
	Position  string `json:"position"`
}

// Head is what one attention head did over T tokens. Row-major; rows are queries, columns keys.
type Head struct {
	Weights []float32 // (T, T), rows sum to 1, zero above the diagonal
	Scores  []float32 // (T, T), raw q·k before scaling; zero above the diagonal
	Q, K, V []float32 // (T, HS); q and k after the rotation, if the model has rotary positions
}

// Trace is one forward pass over T tokens (the prompt's last BlockSize characters at most).
type Trace struct {
	Shape   Shape
	Tokens  []int32   // (T), ids
	Labels  []string  // (T), the character of each token, as it is in the text
	Dropped int       // characters of the prompt that came before the window and were left out
	Heads   [][]Head  // [layer][head]
	Vocab   []string  // (V), one character each
	Next    []float32 // (V), the model's distribution of the next character (temperature 1)
	Bigram  []float64 // (V), the Markov chain's P(next | last character), add-one smoothed
	Source  string    // where the model came from: a checkpoint's path, for titles
	Step    int       // the training iteration of the weights
}
