package train

import "chargpt/model"

// DefaultPreset is what trains when nobody names a preset.
const DefaultPreset = "default"

// A Preset is a named model and way to train it.
type Preset struct {
	Name   string
	About  string // one line
	Config model.Config
	Options
}

// Presets returns all presets, the default first.
func Presets() []Preset {
	cpu := Preset{
		Name: "cpu", About: "nanoGPT's small CPU configuration: 4 layers, 4 heads, 128 channels, block 64",
		Config: model.Config{BlockSize: 64, NLayer: 4, NHead: 4, NEmbd: 128, Tied: true, Position: model.PositionLearned},
		Options: Options{
			MaxIters: 2000, BatchSize: 12, LearningRate: 1e-3, MinLR: 1e-4, WarmupIters: 100,
			Optimizer: AdamW, MuonLR: 0.02, MuonWeightDecay: 0.01,
			WeightDecay: 0.1, Beta1: 0.9, Beta2: 0.99, GradClip: 1,
			EvalInterval: 250, SampleInterval: 500, ValFraction: 0.1, Seed: 1337,
		},
	}
	// The lowest loss in minutes on two cores, found by measuring: docs/recipe.md.
	best := cpu.with("default", "the recipe of docs/recipe.md: Muon, rotary positions, 3 layers, 96 channels, block 256")
	best.Config.NLayer, best.Config.NHead, best.Config.NEmbd = 3, 3, 96
	best.Config.BlockSize, best.Config.Position = 256, model.PositionRope
	best.Optimizer, best.BatchSize, best.LearningRate, best.MinLR = Muon, 4, 6e-3, 1e-5
	best.MuonWeightDecay = 0.1
	best.EvalInterval, best.Patience = 500, 3

	tiny := cpu.with("tiny", "4 layers, 4 heads, 64 channels, block 32, batch 16: seconds")
	tiny.Config.NEmbd, tiny.Config.BlockSize, tiny.BatchSize = 64, 32, 16

	baby := cpu.with("baby", "nanoGPT's GPU configuration for Shakespeare: 6 layers, 6 heads, 384 channels, block 256: hours")
	baby.Config.NLayer, baby.Config.NHead, baby.Config.NEmbd, baby.Config.BlockSize = 6, 6, 384, 256
	baby.Config.Dropout, baby.BatchSize, baby.MaxIters = 0.2, 64, 5000

	single := cpu.with("single-head", "1 layer, 1 head, attention only: the smallest thing that attends")
	single.Config.NLayer, single.Config.NHead, single.Config.AttnOnly = 1, 1, true

	multi := cpu.with("multi-head", "1 layer, 4 heads, attention only")
	multi.Config.NLayer, multi.Config.AttnOnly = 1, true
	return []Preset{best, cpu, tiny, baby, single, multi}
}

func (p Preset) with(name, about string) Preset {
	p.Name, p.About = name, about
	return p
}

// FindPreset returns the preset of that name.
func FindPreset(name string) (Preset, bool) {
	for _, p := range Presets() {
		if p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}
