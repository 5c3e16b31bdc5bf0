package inject

import "strings"

// Language is the language of a file, by its name; "" if it is not known.
func Language(path string) string {
	path = slashed(path)
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	switch name {
	case "dockerfile", "containerfile":
		return "docker"
	case "makefile", "gnumakefile":
		return "make"
	case "jenkinsfile":
		return "groovy"
	case "gemfile", "rakefile":
		return "ruby"
	case "go.mod", "go.sum", "go.work":
		return "go"
	}
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return ""
	}
	switch name[i+1:] {
	case "go":
		return "go"
	case "py", "pyi", "ipynb":
		return "python"
	case "js", "mjs", "cjs", "jsx":
		return "javascript"
	case "ts", "mts", "cts", "tsx":
		return "typescript"
	case "rs":
		return "rust"
	case "java":
		return "java"
	case "kt", "kts":
		return "kotlin"
	case "c", "h":
		return "c"
	case "cc", "cpp", "cxx", "hpp", "hh":
		return "c++"
	case "cs":
		return "c#"
	case "rb":
		return "ruby"
	case "php":
		return "php"
	case "swift":
		return "swift"
	case "scala":
		return "scala"
	case "ex", "exs":
		return "elixir"
	case "lua":
		return "lua"
	case "pl", "pm":
		return "perl"
	case "r":
		return "r"
	case "groovy", "gradle":
		return "groovy"
	case "sh", "bash", "zsh":
		return "shell"
	case "ps1", "psm1":
		return "powershell"
	case "sql":
		return "sql"
	case "html", "htm":
		return "html"
	case "css", "scss", "sass", "less":
		return "css"
	case "vue":
		return "vue"
	case "svelte":
		return "svelte"
	case "tf", "tfvars", "hcl":
		return "terraform"
	case "yaml", "yml":
		return "yaml"
	case "json", "jsonc":
		return "json"
	case "toml":
		return "toml"
	case "proto":
		return "protobuf"
	case "graphql", "gql":
		return "graphql"
	case "md", "mdx", "markdown":
		return "markdown"
	}
	return ""
}

// languageNamed is the language that a person means.
func languageNamed(name string) string {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "golang":
		return "go"
	case "py":
		return "python"
	case "js":
		return "javascript"
	case "ts":
		return "typescript"
	case "cpp":
		return "c++"
	case "csharp":
		return "c#"
	case "bash", "sh", "zsh":
		return "shell"
	case "dockerfile":
		return "docker"
	case "makefile":
		return "make"
	case "hcl":
		return "terraform"
	case "yml":
		return "yaml"
	case "md":
		return "markdown"
	case "proto":
		return "protobuf"
	}
	return name
}
