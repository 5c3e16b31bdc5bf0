package tokenizer

import (
	"encoding/json"
	"fmt"
)

// parseTemplate reads what goes around the tokens of a single text.
func (t *Tokenizer) parseTemplate(raw json.RawMessage) error {
	if absent(raw) {
		return nil
	}
	kind, err := typeOf(raw)
	if err != nil {
		return err
	}
	switch kind {
	case "TemplateProcessing":
		err = t.parsePieces(raw)
	case "BertProcessing", "RobertaProcessing":
		err = t.parseEnds(raw)
	case "Sequence":
		var sequence struct {
			Processors []json.RawMessage `json:"processors"`
		}
		if err := json.Unmarshal(raw, &sequence); err != nil {
			return err
		}
		for _, p := range sequence.Processors {
			if err := t.parseTemplate(p); err != nil {
				return err
			}
		}
	case "ByteLevel": // only moves where tokens are said to stand
	default:
		return fmt.Errorf("a post_processor of type %s cannot be read", kind)
	}
	if err != nil {
		return err
	}
	for _, id := range append(t.before, t.after...) {
		if id < 0 || id >= t.count {
			return fmt.Errorf("the post_processor has token %d of %d", id, t.count)
		}
	}
	return nil
}

// parsePieces reads the template as a list: special tokens, and one place for
// the text.
func (t *Tokenizer) parsePieces(raw json.RawMessage) error {
	var file struct {
		Single []struct {
			Special *struct {
				ID string `json:"id"`
			} `json:"SpecialToken"`
		} `json:"single"`
		Tokens map[string]struct {
			IDs []int `json:"ids"`
		} `json:"special_tokens"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return err
	}
	t.before, t.after = nil, nil
	side := &t.before
	for _, piece := range file.Single {
		if piece.Special == nil {
			side = &t.after
			continue
		}
		token, ok := file.Tokens[piece.Special.ID]
		if !ok {
			return fmt.Errorf("the post_processor does not say what %q is", piece.Special.ID)
		}
		*side = append(*side, token.IDs...)
	}
	return nil
}

// parseEnds reads the two tokens of the older form, each a name and a number.
func (t *Tokenizer) parseEnds(raw json.RawMessage) error {
	var file struct {
		First [2]any `json:"cls"`
		Last  [2]any `json:"sep"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return err
	}
	first, ok := file.First[1].(float64)
	last, alsoOK := file.Last[1].(float64)
	if !ok || !alsoOK {
		return fmt.Errorf("the post_processor has no numbers for its tokens")
	}
	t.before, t.after = []int{int(first)}, []int{int(last)}
	return nil
}
