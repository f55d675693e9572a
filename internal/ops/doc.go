// Package ops holds the operations of the model's gorgonia graph with their derivatives: one file an operation, each
// opening with its formula and shapes, in the letters of package model. Activations are matrices of N = B·T rows, one a
// token; A = NH·HS is the channels of all heads.
//
// A [Builder] adds operations to one graph. Three rules keep a training step all but free of allocation:
//
//   - An operation owns its output buffer and hands the same tensor back every time.
//   - What a forward pass keeps for its backward pass lives in variables that both closures share; a gradient depends on
//     the loss, so it always runs after.
//   - Where gorgonia would add two gradients of one node into a fresh tensor, the operation that runs first deposits its
//     gradient with the builder and the other adds to it in place (see [Builder.deposit]).
//
// Work is split over threads in whole rows, columns or heads, never inside a sum, so that results have the same bits for
// any number of threads.
package ops
