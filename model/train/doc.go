// Package train fits a model to a text and keeps the run in a folder: the loop, evaluation beside two baselines,
// checkpoints and metrics.
//
// A [Trainer] draws random windows of the text ([data.Dataset]), computes the gradients ([model.Batch]), clips
// them and updates the parameters by AdamW, or Muon and AdamW. Every random draw is a function of the seed and the iteration, so that
// a run of a number of iterations that is interrupted and resumed ends with the same bits as one that was not.
package train
