package chat

import (
	"strings"

	"github.com/git-ftl/git-ftl/internal/lazyregexp"
)

// price is of a family of models: a name and what follows it as a date.
type price struct {
	family        string
	input, output float64 // US dollars a million tokens
}

// maxPriced bounds the prompts that have a known price, in tokens. Longer ones
// cost more: from 100,000 on at Claude Haiku 5.5, from 272,000 on at OpenAI.
const maxPriced = 100_000

// prices are the list prices of November 2026, without discounts for batches and
// cached prompts. Sources, read 2026-11-30:
// platform.claude.com/docs/en/about-claude/pricing and its pages of models,
// developers.openai.com/api/docs/pricing; compared with the tables of
// github.com/simonw/llm-prices. A family whose sources disagree is not here.
func prices() []price {
	return []price{
		{"anthropic/claude-opus-5-5", 4, 20},
		{"anthropic/claude-opus-5", 5, 25},
		{"anthropic/claude-opus-4-8", 5, 25},
		{"anthropic/claude-opus-4-7", 5, 25},
		{"anthropic/claude-opus-4-6", 5, 25},
		{"anthropic/claude-opus-4-5", 5, 25},
		{"anthropic/claude-opus-4-1", 15, 75},
		{"anthropic/claude-opus-4", 15, 75},
		{"anthropic/claude-fable-5-1", 10, 50},
		{"anthropic/claude-fable-5", 10, 50},
		{"anthropic/claude-sonnet-5-5", 2, 10},
		{"anthropic/claude-sonnet-5", 2, 10},
		{"anthropic/claude-sonnet-4-6", 3, 15},
		{"anthropic/claude-sonnet-4-5", 3, 15},
		{"anthropic/claude-sonnet-4", 3, 15},
		{"anthropic/claude-haiku-5-5", 0.10, 0.50},
		{"anthropic/claude-haiku-4-5", 1, 5},
		{"openai/gpt-6-astra", 10, 50},
		{"openai/gpt-6.1-sol", 2, 10},
		{"openai/gpt-6-sol", 2, 10},
		{"openai/gpt-6-luna", 0.10, 0.50},
		{"openai/gpt-5.6-terra", 2, 12},
		{"openai/gpt-5.6-luna", 0.20, 1.20},
		{"openai/gpt-5.5", 5, 30},
		{"openai/gpt-5.4", 2.50, 15},
		{"openai/gpt-5.4-mini", 0.75, 4.50},
		{"openai/gpt-5.4-nano", 0.20, 1.25},
		{"openai/gpt-5.2", 1.75, 14},
		{"openai/gpt-5.1", 1.25, 10},
		{"openai/gpt-5", 1.25, 10},
		{"openai/gpt-5-mini", 0.25, 2},
		{"openai/gpt-5-nano", 0.05, 0.40},
		{"openai/gpt-4.1", 2, 8},
		{"openai/gpt-4.1-mini", 0.40, 1.60},
		{"openai/gpt-4.1-nano", 0.10, 0.40},
		{"openai/gpt-4o", 2.50, 10},
		{"openai/gpt-4o-mini", 0.15, 0.60},
		{"openai/o4-mini", 1.10, 4.40},
	}
}

// dated is what may follow a family's name.
var dated = lazyregexp.New(`^-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$`)

// cost is in US dollars; a model that no row is of has none.
func cost(model string, input, output int) (float64, bool) {
	if input > maxPriced {
		return 0, false
	}
	for _, p := range prices() {
		if rest, ok := strings.CutPrefix(model, p.family); ok && (rest == "" || dated.MatchString(rest)) {
			return (float64(input)*p.input + float64(output)*p.output) / 1e6, true
		}
	}
	return 0, false
}
