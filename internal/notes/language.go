package notes

import (
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// Language returns the language of a file by its name, or "" if it is unknown.
func Language(path string) string {
	path = toSlash(path)
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

// languagesOf returns the languages that a program is for, the main one first.
func languagesOf(program string) []string {
	program = strings.ToLower(program[strings.LastIndexByte(toSlash(program), '/')+1:])
	program = strings.TrimSuffix(program, ".exe")
	switch program {
	case "go", "gofmt", "goimports", "gopls", "golangci-lint", "staticcheck", "gotestsum", "dlv":
		return []string{"go"}
	case "cargo", "rustc", "rustup", "rustfmt", "clippy-driver":
		return []string{"rust"}
	case "pip", "pipx", "pytest", "tox", "nox", "mypy", "pyright", "ruff", "flake8", "pylint", "black", "isort", "uv", "uvx", "poetry",
		"pipenv", "conda", "ipython", "jupyter", "django-admin", "coverage":
		return []string{"python"}
	case "npm", "npx", "yarn", "pnpm", "node", "bun", "bunx", "deno", "eslint", "jest", "vitest", "webpack", "vite", "mocha", "nodemon":
		return []string{"javascript", "typescript"}
	case "tsc", "ts-node", "tsx":
		return []string{"typescript"}
	case "mvn", "mvnw", "java", "javac", "jar":
		return []string{"java"}
	case "gradle", "gradlew":
		return []string{"java", "kotlin", "groovy"}
	case "kotlin", "kotlinc", "ktlint":
		return []string{"kotlin"}
	case "gcc", "cc", "clang":
		return []string{"c", "c++"}
	case "g++", "c++", "clang++", "clang-format", "clang-tidy":
		return []string{"c++", "c"}
	case "dotnet", "msbuild", "nuget":
		return []string{"c#"}
	case "ruby", "gem", "bundle", "rake", "rspec", "rails", "rubocop", "irb":
		return []string{"ruby"}
	case "php", "composer", "phpunit", "artisan", "phpstan":
		return []string{"php"}
	case "swift", "swiftc", "xcodebuild", "swiftlint":
		return []string{"swift"}
	case "sbt", "scala", "scalac":
		return []string{"scala"}
	case "mix", "elixir", "iex":
		return []string{"elixir"}
	case "lua", "luajit", "luarocks":
		return []string{"lua"}
	case "perl", "cpan", "cpanm", "prove":
		return []string{"perl"}
	case "r", "rscript":
		return []string{"r"}
	case "pwsh", "powershell":
		return []string{"powershell"}
	case "docker", "docker-compose", "podman", "buildah":
		return []string{"docker"}
	case "make", "gmake":
		return []string{"make"}
	case "terraform", "tofu", "terragrunt", "tflint":
		return []string{"terraform"}
	case "psql", "mysql", "sqlite3", "sqlfluff":
		return []string{"sql"}
	case "buf", "protoc":
		return []string{"protobuf"}
	case "shellcheck", "shfmt":
		return []string{"shell"}
	}
	if version := strings.TrimLeft(program, "abcdefghijklmnopqrstuvwxyz"); strings.Trim(version, "0123456789.") == "" {
		if name := program[:len(program)-len(version)]; name == "python" || name == "pip" {
			return []string{"python"}
		}
	}
	return nil
}

// spellings are alternative names of languages.
var spellings = [...]struct{ name, language string }{
	{"golang", "go"}, {"py", "python"}, {"js", "javascript"}, {"ts", "typescript"}, {"cpp", "c++"}, {"csharp", "c#"},
	{"bash", "shell"}, {"sh", "shell"}, {"zsh", "shell"}, {"dockerfile", "docker"}, {"makefile", "make"}, {"hcl", "terraform"},
	{"yml", "yaml"}, {"md", "markdown"}, {"proto", "protobuf"},
}

// canonicalLanguage returns the language for any of its names.
func canonicalLanguage(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, s := range spellings {
		if s.name == name {
			return s.language
		}
	}
	return name
}

// languageKeys returns the keys of a language under all its names.
func languageKeys(language string) []string {
	keys := []string{passage.LanguageKey(language)}
	for _, s := range spellings {
		if s.language == language {
			keys = append(keys, passage.LanguageKey(s.name))
		}
	}
	return keys
}
