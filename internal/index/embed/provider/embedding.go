package provider

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// An embedding is a vector in JSON: a list of numbers, or base64 of float32.
type embedding []float32

func (e *embedding) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*[]float32)(e))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if len(b)%4 != 0 {
		return errors.New("the base64 text of a vector ends within a number")
	}
	*e = make(embedding, len(b)/4)
	_, err = binary.Decode(b, binary.LittleEndian, []float32(*e))
	return err
}
