package notes

// lastLines is the number of lines at the end of output in which a program reports why it
// gave up.
const lastLines = 5

// ShowsFailure reports whether the output of a command shows that it failed, for agents
// that do not report the exit code. It returns false if the command prints contents of
// files, which may be about failures of any kind.
func ShowsFailure(command, output string) bool {
	for _, words := range simpleCommands(command) {
		for _, run := range launchedCommands(words) {
			if printsContents(run) {
				return false
			}
		}
	}
	lines := failureLines(output)
	for i, l := range lines {
		if l.grade >= gradeError || l.grade == gradeFailure && i >= len(lines)-lastLines {
			return true
		}
	}
	return false
}

// printsContents reports whether a command prints contents of files or a text that it is
// given.
func printsContents(words []string) bool {
	switch baseName(words[0]) {
	case "cat", "head", "tail", "less", "more", "bat", "nl", "tac", "sed", "awk", "jq", "yq", "grep", "egrep", "fgrep",
		"rg", "ag", "ack", "echo", "printf",
		"diff", "journalctl", "dmesg":
		return true
	case "git":
		for _, word := range words[1:] {
			switch word {
			case "log", "show", "diff", "grep", "blame":
				return true
			}
		}
	}
	return false
}
