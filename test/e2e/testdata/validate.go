// Command validate checks a server.json on standard input as the MCP registry does when
// a server is published, and prints the problems. It must be part of the registry's module,
// whose validators are internal.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/registry/internal/validators"
	apiv0 "github.com/modelcontextprotocol/registry/pkg/api/v0"
)

func main() {
	var server apiv0.ServerJSON
	if err := json.NewDecoder(os.Stdin).Decode(&server); err != nil {
		fmt.Println(err)
		return
	}
	for _, issue := range validators.ValidateServerJSON(&server, validators.ValidationAll).Issues {
		fmt.Println(issue.Path, issue.Message)
	}
}
