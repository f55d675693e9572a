// Package optim updates parameters from gradients, on flat memory: [AdamW] for all of them, or [Muon] for the matrices of
// the blocks, the learning-rate [Schedule], and clipping by the global norm. Nothing here allocates in a step after the first,
// or depends on the number of threads.
package optim
