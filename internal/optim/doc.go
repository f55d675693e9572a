// Package optim updates parameters from gradients, on flat memory: [AdamW] for all of them, or [Muon] for the matrices of
// the blocks, the learning-rate [Schedule], and clipping by the global norm. No result depends
// on the number of threads, and a step allocates next to nothing after the first.
package optim
