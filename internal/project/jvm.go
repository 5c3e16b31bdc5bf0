package project

import (
	"encoding/json"
	"encoding/xml"
	"regexp"
	"strings"
)

// Formats: https://maven.apache.org/pom.html,
// https://docs.gradle.org/current/userguide/dependency_locking.html,
// https://learn.microsoft.com/nuget/consume-packages/package-references-in-project-files
// with central versions in Directory.Packages.props and the lock file packages.lock.json.
var (
	javaFormats = []format{
		{Java, "pom.xml", false, decoded(xml.Unmarshal, (*pom).dependencies)},
		{Java, "build.gradle", false, matched(gradleCoordinates, constrained)},
		{Java, "build.gradle.kts", false, matched(gradleCoordinates, constrained)},
		{Java, "gradle.lockfile", true, readGradleLock},
		{Java, "buildscript-gradle.lockfile", true, readGradleLock},
		{Java, "gradle/dependency-locks/*.lockfile", true, readGradleLock},
	}
	dotnetFormats = []format{
		{DotNet, "*.csproj", false, decoded(xml.Unmarshal, (*msBuild).dependencies)},
		{DotNet, "*.fsproj", false, decoded(xml.Unmarshal, (*msBuild).dependencies)},
		{DotNet, "Directory.Packages.props", true, decoded(xml.Unmarshal, (*msBuild).dependencies)},
		{DotNet, "packages.lock.json", true, decoded(json.Unmarshal, (*nuGetLock).dependencies)},
	}
)

type pomDependency struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
}

type pom struct {
	XMLName    xml.Name      `xml:"project"`
	Version    string        `xml:"version"`
	Parent     pomDependency `xml:"parent"`
	Properties struct {
		List []struct {
			XMLName xml.Name
			Value   string `xml:",chardata"`
		} `xml:",any"`
	} `xml:"properties"`
	Dependencies []pomDependency `xml:"dependencies>dependency"`
	Managed      []pomDependency `xml:"dependencyManagement>dependencies>dependency"`
}

// dependencies takes versions from the properties, the parent and the dependency
// management of the same file.
func (f *pom) dependencies(string) (list []Dependency) {
	properties := map[string]string{"project.version": f.Version, "project.parent.version": f.Parent.Version}
	for _, p := range f.Properties.List {
		properties[p.XMLName.Local] = strings.TrimSpace(p.Value)
	}
	fill := func(s string) string {
		const deepest = 5 // properties of properties
		for range deepest {
			if !strings.HasPrefix(s, "${") || !strings.HasSuffix(s, "}") {
				return s
			}
			s = properties[s[2:len(s)-1]]
		}
		return ""
	}
	managed := map[string]string{}
	for _, d := range f.Managed {
		managed[fill(d.Group)+":"+fill(d.Artifact)] = fill(d.Version)
	}
	for _, d := range f.Dependencies {
		name := fill(d.Group) + ":" + fill(d.Artifact)
		version := fill(d.Version)
		if version == "" {
			version = managed[name]
		}
		constraint := ""
		if strings.ContainsAny(version, "[](,") { // a range
			version, constraint = "", version
		}
		list = append(list, Dependency{Name: name, Version: version, Constraint: constraint, Direct: true})
	}
	if f.Parent.Artifact != "" { // Spring Boot's parent, for example, is its version
		list = append(list, Dependency{Name: f.Parent.Group + ":" + f.Parent.Artifact, Version: f.Parent.Version,
			Direct: true})
	}
	return list
}

// gradleCoordinates finds "group:artifact" with an optional version in a build script,
// which is a program that only Gradle can evaluate.
var gradleCoordinates = regexp.MustCompile(`["']([A-Za-z0-9_.-]+\.[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+)(?::([A-Za-z0-9_.+-]+))?(?:@\w+)?["']`)

// readGradleLock reads lines such as "group:artifact:1.2=compileClasspath".
func readGradleLock(data []byte, _ string) ([]Dependency, error) {
	var list []Dependency
	for line := range strings.Lines(string(data)) {
		coordinates, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		parts := strings.Split(coordinates, ":")
		if len(parts) == 3 && !strings.HasPrefix(line, "#") {
			list = append(list, Dependency{Name: parts[0] + ":" + parts[1], Version: parts[2]})
		}
	}
	return list, nil
}

type packageReference struct {
	Include      string `xml:"Include,attr"`
	Version      string `xml:"Version,attr"`
	VersionField string `xml:"Version"`
}

type msBuild struct {
	XMLName xml.Name `xml:"Project"`
	Groups  []struct {
		References []packageReference `xml:"PackageReference"`
		Central    []packageReference `xml:"PackageVersion"`
	} `xml:"ItemGroup"`
}

func (f *msBuild) dependencies(string) (list []Dependency) {
	for _, g := range f.Groups {
		for _, r := range g.References {
			list = append(list, Dependency{Name: r.Include, Constraint: r.Version + r.VersionField, Direct: true})
		}
		for _, r := range g.Central {
			list = append(list, Dependency{Name: r.Include, Version: exactVersion(r.Version + r.VersionField)})
		}
	}
	return list
}

type nuGetLock struct {
	Frameworks map[string]map[string]struct {
		Type     string `json:"type"`
		Resolved string `json:"resolved"`
	} `json:"dependencies"`
}

func (f *nuGetLock) dependencies(string) (list []Dependency) {
	for _, packages := range f.Frameworks {
		for name, p := range packages {
			if p.Resolved != "" {
				list = append(list, Dependency{Name: name, Version: p.Resolved, Direct: p.Type == "Direct"})
			}
		}
	}
	return list
}
