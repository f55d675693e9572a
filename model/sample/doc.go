// Package sample draws text from a model, one character at a time: [Sampler] chooses a character from logits, [Generate]
// continues a prompt. It sees the model as a [Predictor] and knows nothing of its graph.
package sample
