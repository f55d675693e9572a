// Package hf writes a model as a GPT-2 folder in Hugging Face's layout, which PyTorch's transformers loads and trains on.
//
// The folder has four files:
//
//	model.safetensors      the weights, by the names of transformers' GPT2LMHeadModel
//	tokenizer.json         a tokenizer whose tokens are characters, with the model's own ids
//	tokenizer_config.json  that decoding changes nothing, and how long a context is
//	config.json            the sizes; written last, so that a folder that has it is whole
//
// The model is the same function there: the block of both is GPT-2's (Radford et al. 2019). Only names and layout differ.
// W_Q, W_K and W_V stand side by side in one matrix c_attn (C, 3C), a layer without biases gets zeros, and an untied LM
// head is transposed, because PyTorch's Linear is (out, in) where everything else in GPT-2 is (in, out), as ours. What
// GPT-2 cannot express is refused by [Check].
//
// Read it in this order: config.go, weights.go, tokenizer.go, folder.go.
package hf
