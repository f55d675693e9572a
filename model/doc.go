// Package model is the GPT: its configuration, its parameters and its computation graph.
//
// Shapes are written with these letters, at the end of the line that makes them:
//
//	B   sequences in a batch          NH  attention heads
//	T   characters in a sequence      HS  channels of a head
//	C   channels (NEmbd)              V   characters in the vocabulary
//
// Vectors are rows: a context of T characters is X (T, C), a linear layer is y = x W + b with W (in, out), and
// Q = X W_Q. In memory the B and T of an activation are one dimension: (B, T, C) is a matrix of B·T rows.
//
// Read it in this order:
//
//	config.go      what a model can be
//	model.go       its parameters and their memory
//	gpt.go         the forward pass: embedding, blocks, LayerNorm, LM head
//	block.go       x += attention(ln_1(x)); x += mlp(ln_2(x))
//	attention.go   W_Q, W_K, W_V, the causal mask and the weighted sum of values
//	embedding.go   characters and positions to vectors
//	parameters.go  names, shapes and initial values
//	graph.go       some sequences through the graph: loss, gradients, attention weights
//	batch.go       a training batch, cut into micro-batches that run side by side
//	decode.go      one new character at a time, with cached keys and values
//
// A model is trained by gradients that gorgonia derives from the graph: see [Model.NewBatch].
package model
