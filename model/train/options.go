package train

import (
	"fmt"
	"math"

	"chargpt/internal/optim"
	"chargpt/model"
)

// Options says how a model is trained. The JSON keys are the names of the flags and of a checkpoint's "train" metadata.
type Options struct {
	MaxIters        int     `json:"max_iters"`         // iterations (optimizer steps)
	Minutes         float64 `json:"minutes"`           // of elapsed time, evaluations on the way included, instead of MaxIters; 0 is off
	BatchSize       int     `json:"batch_size"`        // B, windows of text an iteration
	LearningRate    float64 `json:"learning_rate"`     // after the warm-up
	MinLR           float64 `json:"min_lr"`            // at the last iteration
	WarmupIters     int     `json:"warmup_iters"`      // iterations in which the learning rate rises from 0
	WeightDecay     float64 `json:"weight_decay"`      // of tensors of two or more dimensions
	Beta1           float64 `json:"beta1"`             // AdamW's decay of the mean gradient
	Beta2           float64 `json:"beta2"`             // AdamW's decay of the mean squared gradient
	Optimizer       string  `json:"optimizer"`         // AdamW or Muon
	MuonLR          float64 `json:"muon_lr"`           // Muon's learning rate after the warm-up; it follows LearningRate's schedule
	MuonWeightDecay float64 `json:"muon_weight_decay"` // of Muon's matrices
	GradClip        float64 `json:"grad_clip"`         // largest global norm of the gradients; 0 is off

	Patience       int     `json:"patience"`        // evaluations in a row over 1 % above the lowest validation loss that end the run; 0 is off
	EvalInterval   int     `json:"eval_interval"`   // iterations between evaluations
	SampleInterval int     `json:"sample_interval"` // iterations between samples; 0 is off
	ValFraction    float64 `json:"val_fraction"`    // share of the text, its end, that validates
	Seed           uint64  `json:"seed"`            // of initial weights, batches, dropout and samples
}

// adamEps is AdamW's ε, fixed as in nanoGPT.
const adamEps = 1e-8

// Validate reports the first option that makes no sense, as a *[model.ConfigError] that names it by its flag.
func (o Options) Validate() error {
	for _, f := range []struct {
		name     string
		got, min int
	}{
		{"max_iters", o.MaxIters, 0},
		{"batch_size", o.BatchSize, 1},
		{"warmup_iters", o.WarmupIters, 0},
		{"eval_interval", o.EvalInterval, 1},
		{"patience", o.Patience, 0},
		{"sample_interval", o.SampleInterval, 0},
	} {
		if f.got < f.min || f.got > 1<<30 {
			return &model.ConfigError{Field: f.name, Reason: fmt.Sprintf("is %d; it must be from %d to %d", f.got, f.min, 1<<30)}
		}
	}
	for _, f := range []struct {
		name     string
		got, max float64
		open     bool // the maximum is excluded
	}{
		{"learning_rate", o.LearningRate, 100, false},
		{"min_lr", o.MinLR, o.LearningRate, false},
		{"weight_decay", o.WeightDecay, 100, false},
		{"beta1", o.Beta1, 1, true},
		{"beta2", o.Beta2, 1, true},
		{"grad_clip", o.GradClip, math.MaxFloat64, false},
		{"minutes", o.Minutes, 1e6, false},
		{"muon_lr", o.MuonLR, 100, false},
		{"muon_weight_decay", o.MuonWeightDecay, 100, false},
		{"val_fraction", o.ValFraction, 1, true},
	} {
		if !(f.got >= 0 && f.got <= f.max) || f.open && f.got == f.max {
			return &model.ConfigError{Field: f.name, Reason: fmt.Sprintf("is %v; it must be at least 0 and %s", f.got, limit(f.name, f.max, f.open))}
		}
	}
	if o.Optimizer != AdamW && o.Optimizer != Muon {
		return &model.ConfigError{Field: "optimizer", Reason: fmt.Sprintf("is %q; it must be %s or %s", o.Optimizer, AdamW, Muon)}
	}
	return nil
}

// limit is an upper bound in words.
func limit(name string, most float64, open bool) string {
	switch {
	case name == "min_lr":
		return fmt.Sprintf("at most learning_rate, %v", most)
	case most == math.MaxFloat64:
		return "finite"
	case open:
		return fmt.Sprintf("under %v", most)
	}
	return fmt.Sprintf("at most %v", most)
}

// muonRate is Muon's learning rate where AdamW's is lr: both follow one schedule.
func (o Options) muonRate(lr float64) float64 {
	return o.MuonLR * lr / max(o.LearningRate, math.SmallestNonzeroFloat64)
}

func (o Options) schedule() optim.Schedule {
	return optim.Schedule{Max: o.LearningRate, Min: o.MinLR, Warmup: o.WarmupIters, Total: o.MaxIters}
}
