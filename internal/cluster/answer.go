package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/safetext"
)

// errorMessage returns the first message of an error answer:
// {"error": [{"message": "…"}]}, or {"code": 401, "message": "…"}.
func errorMessage(body []byte) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	var list []struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(e.Error, &list) == nil && len(list) > 0 {
		return safetext.Line(list[0].Message)
	}
	return safetext.Line(e.Message)
}

// decodeObjects decodes the objects of a class under "Get" in the answer to a GraphQL query.
// Weaviate reports errors with status 200.
func decodeObjects[T any](body []byte, class string) ([]T, error) {
	var answer struct {
		Data   map[string]map[string]json.RawMessage `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("invalid answer: %w", err)
	}
	if len(answer.Errors) > 0 {
		text := answer.Errors[0].Message
		return nil, errors.New(safetext.Line(text[:min(len(text), 300)]))
	}
	classes, ok := answer.Data["Get"]
	if !ok {
		return nil, errors.New("invalid answer: no data")
	}
	raw, ok := classes[class]
	if !ok {
		return nil, fmt.Errorf("invalid answer: no %q", class)
	}
	var objects []T
	if err := json.Unmarshal(raw, &objects); err != nil {
		return nil, fmt.Errorf("invalid answer: %w", err)
	}
	return objects, nil
}

// decodeBatch checks the answer to a batch of objects: each object must have been stored.
func decodeBatch(body []byte, ids []string) error {
	var results []struct {
		ID     string `json:"id"`
		Result struct {
			Status string          `json:"status"`
			Errors json.RawMessage `json:"errors"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &results); err != nil {
		return fmt.Errorf("invalid answer: %w", err)
	}
	stored := make([]string, 0, len(results))
	for _, r := range results {
		if text := message(r.Result.Errors); r.Result.Status != "SUCCESS" && strings.HasPrefix(text, "invalid") {
			return &RefusedError{Status: http.StatusUnprocessableEntity, Text: text}
		}
		if r.Result.Status != "SUCCESS" {
			return fmt.Errorf("object %s was not stored: %s", safetext.Line(r.ID), message(r.Result.Errors))
		}
		stored = append(stored, strings.ToLower(r.ID))
	}
	slices.Sort(stored)
	for _, id := range ids {
		if _, found := slices.BinarySearch(stored, id); !found {
			return fmt.Errorf("object %s is missing in the answer", id)
		}
	}
	return nil
}

// decodeProperties decodes the properties of a single object.
func decodeProperties[T any](body []byte) (T, error) {
	var object struct {
		Properties *T `json:"properties"`
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return *new(T), fmt.Errorf("invalid answer: %w", err)
	}
	if object.Properties == nil {
		return *new(T), errors.New("invalid answer: no properties")
	}
	return *object.Properties, nil
}

// checkDeletion returns an error if the answer to the deletion of objects by a condition
// reports that some remain.
func checkDeletion(body []byte) error {
	var answer struct {
		Results struct {
			Failed int `json:"failed"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("invalid answer: %w", err)
	}
	if n := answer.Results.Failed; n != 0 {
		return fmt.Errorf("%d objects were not deleted", n)
	}
	return nil
}

// A NodeStatus is the state of a node in the view of the node that was asked.
type NodeStatus struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // "HEALTHY", or another value
	Version string `json:"version"`
}

// decodeNodes decodes the list of nodes.
func decodeNodes(body []byte) ([]NodeStatus, error) {
	var answer struct {
		Nodes []NodeStatus `json:"nodes"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("invalid answer: %w", err)
	}
	if len(answer.Nodes) == 0 {
		return nil, errors.New("invalid answer: no nodes")
	}
	for i := range answer.Nodes {
		n := &answer.Nodes[i]
		n.Name, n.Status, n.Version = safetext.Line(n.Name), safetext.Line(n.Status), safetext.Line(n.Version)
	}
	return answer.Nodes, nil
}

// decodeTenants decodes the list of a class's tenants.
func decodeTenants(body []byte) ([]string, error) {
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("invalid answer: %w", err)
	}
	names := make([]string, len(list))
	for i, t := range list {
		if !validTenant(t.Name) {
			return nil, errors.New("invalid answer: a tenant without a valid name")
		}
		names[i] = t.Name
	}
	return names, nil
}

// validTenant reports whether a name can be a tenant's.
func validTenant(name string) bool {
	return len(name) > 0 && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}
