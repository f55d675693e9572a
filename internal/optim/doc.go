// Package optim updates parameters from gradients, on flat memory: AdamW, the learning-rate schedule and clipping by the
// global norm. Nothing here allocates in a step or depends on the number of threads.
package optim
