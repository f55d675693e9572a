// Package chargpt is a tiny character-level GPT: W_Q, W_K and W_V are learned by backpropagation through a gorgonia graph.
// This package holds no code; it is the map.
//
// Commands:
//
//	cmd/train    text file → run folder with checkpoints
//	cmd/sample   checkpoint, prompt → text
//	cmd/inspect  checkpoint, prompt → what each attention head looks at, and why
//	cmd/export   checkpoint → a GPT-2 folder for PyTorch
//
// Packages to import, in reading order:
//
//	data              Tokenizer, Dataset: characters to ids, batches, baselines
//	model             Config, Model: the graph, from embedding to LM head
//	model/train       Trainer: the loop; its example trains on a string and samples from it
//	model/sample      Sampler, Generate: logits to text
//	model/checkpoint  one-file checkpoints
//
// Inside:
//
//	internal/ops        operations of the graph with their derivatives
//	internal/optim      AdamW, Muon, schedule, clipping
//	internal/f32        kernels on []float32
//	internal/trace      a forward pass as plain numbers
//	internal/attention  renderers of such a trace; page is the HTML one
//	internal/hf         Hugging Face's layout
//	internal/chart      pictures of losses
//	internal/cli        exit codes, signals, help
//	internal/runs       where commands find runs
//	internal/prompt     prompts to ids, what to do about unknown characters
//	internal/atomicfile files written whole or not at all
//	internal/bench      commands that found the default preset, and tell learning from copying
//
// Exporting to Hugging Face, drawing losses, looking into attention and reading prompts belong to the commands: none of it
// can be imported, and to train, to sample and to keep a model takes none of it.
package chargpt
