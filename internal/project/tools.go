package project

import (
	"bytes"
	"regexp"
	"strings"
)

// Formats:
//
//   - .tool-versions: https://asdf-vm.com/manage/configuration.html
//   - mise.toml: https://mise.jdx.dev/configuration.html
//   - .nvmrc, .node-version: https://github.com/nvm-sh/nvm#nvmrc
//   - CMakeLists.txt: https://cmake.org/cmake/help/latest/command/cmake_minimum_required.html
//   - Dockerfile: https://docs.docker.com/reference/dockerfile/#from
//   - compose files: https://docs.docker.com/reference/compose-file/services/#image
//   - .terraform.lock.hcl: https://developer.hashicorp.com/terraform/language/files/dependency-lock
//   - workflows: https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax
var toolFormats = []format{
	{Tool, ".tool-versions", false, readToolVersions},
	{Tool, "mise.toml", false, decoded(limitedTOML, (*miseFile).dependencies)},
	{Tool, ".mise.toml", false, decoded(limitedTOML, (*miseFile).dependencies)},
	{Tool, ".nvmrc", false, versionFile("node")},
	{Tool, ".node-version", false, versionFile("node")},
	{Tool, "CMakeLists.txt", false, readCMakeLists},
	{Docker, "Dockerfile", false, readDockerfile},
	{Docker, "Dockerfile.*", false, readDockerfile},
	{Docker, "*.Dockerfile", false, readDockerfile},
	{Docker, "compose*.y*ml", false, decoded(limitedYAML, (*composeFile).dependencies)},
	{Docker, "docker-compose*.y*ml", false, decoded(limitedYAML, (*composeFile).dependencies)},
	{Terraform, ".terraform.lock.hcl", true, readTerraformLock},
	{Actions, ".github/workflows/*.y*ml", false, decoded(limitedYAML, (*workflow).dependencies)},
}

// toolNames maps the names of version managers to ours.
var toolNames = [...][2]string{{"nodejs", "node"}, {"golang", "go"}, {"postgresql", "postgres"}, {"cpython", "python"}}

// toolVersion returns the dependency on a tool, or nothing if the version is not a
// number, as "stable" or "lts/*".
func toolVersion(name, version string) []Dependency {
	if version = trimV(strings.TrimSpace(version)); version == "" || version[0] < '0' || version[0] > '9' {
		return nil
	}
	for _, n := range toolNames {
		if n[0] == name {
			name = n[1]
		}
	}
	return []Dependency{{Ecosystem: Tool, Name: name, Version: version, Direct: true}}
}

// versionFile returns the reader of a file that consists of the version of a tool, with
// comments. Only its first version is active.
func versionFile(tool string) reader {
	return func(data []byte, _ string) ([]Dependency, error) {
		for line := range strings.Lines(string(data)) {
			line, _, _ = strings.Cut(line, "#")
			line = strings.TrimPrefix(strings.TrimSpace(line), tool+"-")
			if line != "" {
				return toolVersion(tool, line), nil
			}
		}
		return nil, nil
	}
}

func readToolVersions(data []byte, _ string) ([]Dependency, error) {
	var list []Dependency
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 {
			list = append(list, toolVersion(fields[0], fields[1])...)
		}
	}
	return list, nil
}

type miseFile struct {
	Tools map[string]any `toml:"tools"`
}

func (f *miseFile) dependencies(string) (list []Dependency) {
	for name, v := range f.Tools {
		if versions, ok := v.([]any); ok && len(versions) > 0 {
			v = versions[0]
		}
		list = append(list, toolVersion(name, constraintOf(v))...)
	}
	return list
}

var cmakeMinimum = regexp.MustCompile(`(?i)^[ \t]*cmake_minimum_required\s*\(\s*VERSION\s+([0-9.]+[0-9])`)

// readCMakeLists reads the minimum version of CMake. A newer one may be in use.
func readCMakeLists(data []byte, _ string) ([]Dependency, error) {
	for line := range bytes.Lines(data) {
		if m := cmakeMinimum.FindSubmatch(line); m != nil {
			return []Dependency{{Ecosystem: Tool, Name: "cmake", Constraint: ">=" + string(m[1]), Direct: true}}, nil
		}
	}
	return nil, nil
}

// image parses the reference of a Docker image: "postgres:16.1-alpine".
func image(reference string) []Dependency {
	reference, _, _ = strings.Cut(strings.TrimSpace(reference), "@") // the digest
	name, tag := reference, ""
	if i := strings.LastIndexByte(reference, ':'); i > strings.LastIndexByte(reference, '/') {
		name, tag = reference[:i], reference[i+1:]
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
	if name == "" || name == "scratch" || strings.ContainsAny(name, "$ ") {
		return nil
	}
	d := Dependency{Ecosystem: Docker, Name: name, Direct: true}
	if number := trimV(tag); number != "" && number[0] >= '0' && number[0] <= '9' {
		d.Version, _, _ = strings.Cut(number, "-") // a variant follows
	} else {
		d.Constraint = tag
	}
	return []Dependency{d}
}

var (
	dockerArg = regexp.MustCompile(`^(?i:ARG)\s+([A-Za-z_]\w*)=["']?([^"'\s]*)`)
	dockerRef = regexp.MustCompile(`\$\{?([A-Za-z_]\w*)(?::-([^}]*))?\}?`)
)

// readDockerfile reads the base images, with the defaults of the arguments before them.
func readDockerfile(data []byte, _ string) ([]Dependency, error) {
	arguments, stages := map[string]string{}, map[string]bool{}
	var list []Dependency
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if m := dockerArg.FindStringSubmatch(line); m != nil {
			arguments[m[1]] = m[2]
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.EqualFold(fields[0], "FROM") {
			continue
		}
		fields = fields[1:]
		for len(fields) > 1 && strings.HasPrefix(fields[0], "--") {
			fields = fields[1:]
		}
		reference := dockerRef.ReplaceAllStringFunc(fields[0], func(s string) string {
			m := dockerRef.FindStringSubmatch(s)
			if v := arguments[m[1]]; v != "" {
				return v
			}
			return m[2]
		})
		if !stages[strings.ToLower(reference)] {
			list = append(list, image(reference)...)
		}
		if len(fields) == 3 && strings.EqualFold(fields[1], "AS") {
			stages[strings.ToLower(fields[2])] = true
		}
	}
	return list, nil
}

// A container is a service of a compose file or a workflow.
type container struct {
	Image string `yaml:"image"`
}

type composeFile struct {
	Services map[string]container `yaml:"services"`
}

func (f *composeFile) dependencies(string) (list []Dependency) {
	for _, s := range f.Services {
		reference := dockerRef.ReplaceAllString(s.Image, "$2") // the default of ${NAME:-default}
		list = append(list, image(reference)...)
	}
	return list
}

var (
	terraformProvider = regexp.MustCompile(`^provider\s+"(?:[^"/]+/)?([^"/]+/[^"/]+)"`)
	terraformField    = regexp.MustCompile(`^\s+(version|constraints)\s*=\s*"([^"]*)"`)
)

func readTerraformLock(data []byte, _ string) ([]Dependency, error) {
	var list []Dependency
	for line := range strings.Lines(string(data)) {
		if m := terraformProvider.FindStringSubmatch(line); m != nil {
			list = append(list, Dependency{Name: m[1]})
		}
		m := terraformField.FindStringSubmatch(line)
		if m == nil || len(list) == 0 {
			continue
		}
		d := &list[len(list)-1]
		if m[1] == "version" {
			d.Version = m[2]
		} else { // only those that a module of the project requires have constraints
			d.Constraint, d.Direct = m[2], true
		}
	}
	return list, nil
}

type workflow struct {
	Jobs map[string]struct {
		Uses     string               `yaml:"uses"`
		Services map[string]container `yaml:"services"`
		Steps    []struct {
			Uses string `yaml:"uses"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// dependencies returns the actions of the steps, the reusable workflows, and the images of
// the containers.
func (f *workflow) dependencies(string) (list []Dependency) {
	uses := func(reference string) {
		name, version, ok := strings.Cut(reference, "@")
		parts := strings.SplitN(name, "/", 3)
		if !ok || len(parts) < 2 || parts[0] == "." || strings.Contains(name, "://") {
			return
		}
		d := Dependency{Name: parts[0] + "/" + parts[1], Direct: true}
		if exact := trimV(version); exact != "" && exact[0] >= '0' && exact[0] <= '9' &&
			strings.Trim(exact, "0123456789.") == "" && len(exact) < len("1234567890123456") {
			d.Version = exact
		} else {
			d.Constraint = version // a branch or a commit
		}
		list = append(list, d)
	}
	for _, job := range f.Jobs {
		uses(job.Uses)
		for _, s := range job.Services {
			list = append(list, image(s.Image)...)
		}
		for _, step := range job.Steps {
			uses(step.Uses)
		}
	}
	return list
}
