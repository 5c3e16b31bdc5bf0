// Package activity summarizes the event log: counts by outcome, the agents' reactions to
// denials, the questions that nothing answered, and changes that would help. The command
// "docsearch stats" and the page of "docsearch web" show it.
//
// It also keeps the decisions that the user marked as wrong; see Labels for their file.
package activity
