package data

import _ "embed"

//go:embed plays.txt
var plays string

// Plays returns the text to train on when there is no other: scenes in blank verse, about 200,000 characters,
// written for this project.
func Plays() string { return plays }
