package main

import (
	"testing"

	"chargpt/internal/cli/clitest"
)

func TestHelpFits(t *testing.T) { clitest.Help(t, "train", run) }
