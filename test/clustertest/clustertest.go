// Package clustertest starts a real Weaviate cluster on loopback for tests. It runs the
// server that the environment variable DOCSEARCH_WEAVIATE names, with the settings of
// deploy/weaviate.env; without the variable, tests are skipped. "make cluster" builds the
// server and sets the variable.
//
// Each cluster has its own ports and a temporary folder, and ends with its test. The
// server opens its gRPC port and its data port on all interfaces, which no setting
// prevents; all other ports are opened on loopback only.
package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Keys of deploy/weaviate.env.
const (
	WriterKey = "CHANGE-THE-WRITER-KEY"
	ReaderKey = "CHANGE-THE-READER-KEY"
)

// Variable is the environment variable with the path of the Weaviate server.
const Variable = "DOCSEARCH_WEAVIATE"

// readyTimeout limits the start of a node. Starts take 6 to 10 seconds on an idle
// machine, most of it for the consensus of the nodes.
const readyTimeout = 90 * time.Second

// Offsets of a node's ports from its base. The server requires that the data port follows
// the gossip port, and the RPC port the Raft port.
const (
	portREST = iota
	portGRPC
	portGossip
	portData
	portRaft
	portRPC
	portsPerNode
)

// A Cluster consists of one or three nodes.
type Cluster struct {
	Nodes []*Node
}

// A Node is a process of the server. After Kill, Start starts it again with its data.
type Node struct {
	Name   string
	URL    string
	Folder string // of its data
	tb     testing.TB
	env    []string
	args   []string
	cmd    *exec.Cmd
	exited chan struct{}
	output *bytes.Buffer
}

// Options configures the nodes of a cluster.
type Options struct {
	// APIKeys requires one of the keys WriterKey and ReaderKey. Otherwise everybody may read
	// and write.
	APIKeys bool
	// Pruning keeps the server's default for BM25 searches, which misses matches in
	// version 1.37.0.
	Pruning bool
}

// Start starts a cluster of n nodes and waits until all are ready. The cluster ends with
// the test.
func Start(tb testing.TB, n int, opt Options) *Cluster {
	tb.Helper()
	program := os.Getenv(Variable)
	if program == "" {
		tb.Skipf("%s is not set; to run this test, run: make cluster", Variable)
	}
	if _, err := os.Stat(program); err != nil {
		tb.Fatalf("%s: %v", Variable, err)
	}
	base := freePorts(tb, n*portsPerNode)
	c := &Cluster{}
	settings := readSettings(tb)
	var raft, gossip []string
	for i := range n {
		raft = append(raft, fmt.Sprintf("node%d:%d", i+1, base+i*portsPerNode+portRaft))
		gossip = append(gossip, fmt.Sprintf("127.0.0.1:%d", base+i*portsPerNode+portGossip))
	}
	for i := range n {
		port := base + i*portsPerNode
		name := fmt.Sprintf("node%d", i+1)
		node := &Node{
			Name: name, URL: fmt.Sprintf("http://127.0.0.1:%d", port+portREST), tb: tb,
			Folder: filepath.Join(tb.TempDir(), name),
			args:   []string{"--host", "127.0.0.1", "--port", fmt.Sprint(port + portREST), "--scheme", "http"},
			env: append(slices.Clone(settings),
				"CLUSTER_HOSTNAME="+name, "CLUSTER_IN_LOCALHOST=true",
				"CLUSTER_ADVERTISE_ADDR=127.0.0.1", "CLUSTER_BIND_ADDR=127.0.0.1",
				fmt.Sprintf("CLUSTER_GOSSIP_BIND_PORT=%d", port+portGossip), fmt.Sprintf("CLUSTER_DATA_BIND_PORT=%d", port+portData),
				fmt.Sprintf("RAFT_PORT=%d", port+portRaft), fmt.Sprintf("RAFT_INTERNAL_RPC_PORT=%d", port+portRPC),
				fmt.Sprintf("RAFT_BOOTSTRAP_EXPECT=%d", n), "RAFT_JOIN="+strings.Join(raft, ","), "CLUSTER_JOIN="+strings.Join(gossip, ","),
				fmt.Sprintf("GRPC_PORT=%d", port+portGRPC), "GO_PROFILING_DISABLE=true",
				"DISK_USE_READONLY_PERCENTAGE=99", "DISK_USE_WARNING_PERCENTAGE=98",
			),
		}
		node.env = append(node.env, "PERSISTENCE_DATA_PATH="+node.Folder)
		if !opt.APIKeys {
			node.env = append(node.env, "AUTHENTICATION_APIKEY_ENABLED=false", "AUTHORIZATION_RBAC_ENABLED=false", "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true")
		}
		if opt.Pruning {
			node.env = slices.DeleteFunc(node.env, func(v string) bool { return strings.HasPrefix(v, "BLOCKMAX_WAND_PER_SEGMENT_LIMIT=") })
		}
		if n == 1 {
			node.env = slices.DeleteFunc(node.env, func(v string) bool { return strings.HasPrefix(v, "CLUSTER_JOIN=") })
		}
		c.Nodes = append(c.Nodes, node)
	}
	tb.Cleanup(func() {
		for _, node := range c.Nodes {
			node.Kill()
		}
		if tb.Failed() {
			for _, node := range c.Nodes {
				tb.Logf("last output of %s:\n%s", node.Name, lastLines(node.output))
			}
		}
	})
	for _, node := range c.Nodes {
		node.Start()
	}
	for _, node := range c.Nodes {
		if err := node.WaitReady(tb.Context(), readyTimeout); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}

// URLs returns the addresses of all nodes.
func (c *Cluster) URLs() []string {
	var urls []string
	for _, n := range c.Nodes {
		urls = append(urls, n.URL)
	}
	return urls
}

// Start starts the node's process.
func (n *Node) Start() {
	n.tb.Helper()
	n.output = &bytes.Buffer{}
	n.cmd = exec.Command(os.Getenv(Variable), n.args...)
	n.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + n.Folder}, n.env...)
	n.cmd.Dir = filepath.Dir(n.Folder)
	n.cmd.Stdout, n.cmd.Stderr = n.output, n.output
	if err := n.cmd.Start(); err != nil {
		n.tb.Fatal(err)
	}
	n.exited = make(chan struct{})
	go func(cmd *exec.Cmd, exited chan struct{}) {
		cmd.Wait() // its status does not matter: Kill ends it
		close(exited)
	}(n.cmd, n.exited)
}

// Kill ends the node's process at once, as "kill -9" does, and waits for its end.
func (n *Node) Kill() {
	if n.cmd == nil {
		return
	}
	n.cmd.Process.Kill() // fails if the process has ended
	<-n.exited
	n.cmd = nil
}

// PID returns the ID of the node's process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// WaitReady waits until the node accepts requests. It fails if the node's process ends.
func (n *Node) WaitReady(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client := http.Client{Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		res, err := client.Get(n.URL + "/v1/.well-known/ready")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-n.exited:
			return errors.New(n.Name + " ended before it was ready:\n" + lastLines(n.output))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", n.Name, ctx.Err())
		}
	}
}

// freePorts returns the first of count consecutive ports that are free on loopback.
func freePorts(tb testing.TB, count int) int {
	tb.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		base := l.Addr().(*net.TCPAddr).Port + 1
		l.Close()
		if base+count < 1<<16 && allFree(base, count) {
			return base
		}
	}
	tb.Fatal("no free ports")
	return 0
}

// allFree reports whether count ports from base are free.
func allFree(base, count int) bool {
	for port := base; port < base+count; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

// readSettings reads the settings of deploy/weaviate.env, which a user copies.
func readSettings(tb testing.TB) []string {
	_, file, _, _ := runtime.Caller(0)
	data, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "deploy", "weaviate.env"))
	if err != nil {
		tb.Fatal(err)
	}
	var settings []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			settings = append(settings, line)
		}
	}
	return settings
}

// lastLines returns the end of a process's output.
func lastLines(b *bytes.Buffer) string {
	if b == nil {
		return ""
	}
	data := b.Bytes()
	return string(data[max(0, len(data)-2000):])
}

// Leader returns the index of the node that is the Raft leader in the view of a running
// node, or -1.
func (c *Cluster) Leader() int {
	client := http.Client{Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	for _, n := range c.Nodes {
		if n.cmd == nil {
			continue
		}
		res, err := client.Get(n.URL + "/v1/cluster/statistics")
		if err != nil {
			continue
		}
		var answer struct {
			Statistics []struct {
				Leader string `json:"leaderId"`
			} `json:"statistics"`
		}
		err = json.NewDecoder(res.Body).Decode(&answer)
		res.Body.Close()
		if err != nil || len(answer.Statistics) == 0 {
			continue
		}
		return slices.IndexFunc(c.Nodes, func(n *Node) bool { return n.Name == answer.Statistics[0].Leader })
	}
	return -1
}
