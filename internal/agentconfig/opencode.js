// docsearch: asks "docsearch hook" before a tool call. Only a denial may throw.
import { spawnSync } from "node:child_process"

const PROGRAM = "DOCSEARCH_PROGRAM"

export const Docsearch = async ({ directory }) => {
  const ask = (event) =>
    spawnSync(PROGRAM, ["hook", "--client", "opencode"], {
      encoding: "utf8",
      timeout: 5000,
      input: JSON.stringify({ cwd: directory, ...event }),
    })
  return {
    "tool.execute.before": async (input, output) => {
      let denial
      try {
        const answer = ask({
          session_id: input.sessionID,
          hook_event_name: "PreToolUse",
          tool_use_id: input.callID,
          tool_name: input.tool,
          tool_input: output.args,
        })
        const { permissionDecision, permissionDecisionReason, additionalContext } = JSON.parse(answer.stdout).hookSpecificOutput
        if (permissionDecision === "deny") denial = [permissionDecisionReason, additionalContext].filter(Boolean).join("\n\n")
      } catch {
        return
      }
      if (denial) throw new Error(denial)
    },
  }
}
