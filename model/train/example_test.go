package train_test

import (
	"context"
	"fmt"
	"strings"

	"chargpt/data"
	"chargpt/model/sample"
	"chargpt/model/train"
)

// Train a tiny model on a string, and sample from it.
func Example() {
	text, err := data.Read(strings.NewReader(strings.Repeat("the cat sat on the mat. ", 100)))
	if err != nil {
		fmt.Println(err)
		return
	}
	preset, _ := train.FindPreset("tiny")
	preset.Config.NLayer, preset.Config.NEmbd, preset.Config.BlockSize = 1, 32, 16
	preset.MaxIters, preset.LearningRate = 150, 1e-2
	t, err := train.New(text, preset.Config, preset.Options, train.Run{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	if err := t.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	decoder, err := t.Model.NewDecoder(1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer decoder.Close()
	prompt, _ := text.Tokenizer.Encode("the cat")
	o := sample.Options{MaxNewTokens: 17} // the zero sampler takes the likeliest character
	err = sample.Generate(context.Background(), decoder, 1, 0, prompt, text.Tokenizer.Char, o, func(e sample.Event) error {
		fmt.Print(e.Text)
		return nil
	})
	fmt.Println("|", err)
	// Output: sat on the mat. | <nil>
}
