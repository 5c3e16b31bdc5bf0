// docsearch answers web searches and page fetches from local documentation, applies the
// user's rules, and adds notes. "docsearch install --client opencode" writes this file.
import { spawnSync } from "node:child_process"

const program = "DOCSEARCH_PROGRAM"

export const Docsearch = async ({ client, directory }) => {
  const subagents = new Set() // IDs of their sessions
  const prompts = new Map() // context for the system prompt, by session
  const calls = new Map() // arguments, and context for the result, by call

  // tell shows the person a line. Without a screen, nothing happens.
  const tell = (message) => {
    const toast = { message, variant: "info", duration: 10000 }
    if (message) client?.tui?.showToast({ body: toast })?.catch(() => {})
  }

  // ask returns the decision about an event. On any error there is none: an exception
  // would deny the call.
  const ask = (name, session, event) => {
    try {
      const input = JSON.stringify({
        hook_event_name: name,
        session_id: session,
        agent_id: subagents.has(session) ? session : undefined,
        cwd: directory,
        ...event,
      })
      const run = spawnSync(program, ["hook", "--client", "opencode"], {
        input,
        encoding: "utf8",
        timeout: 2000,
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      const output = run.stdout ? JSON.parse(run.stdout) : {}
      tell(output.systemMessage)
      return output.hookSpecificOutput || {}
    } catch {
      return {}
    }
  }

  const askCall = (name, input, event) =>
    ask(name, input?.sessionID, { tool_use_id: input?.callID, tool_name: input?.tool, ...event })

  return {
    "tool.execute.before": async (input, output) => {
      const args = output?.args
      const decision = askCall("PreToolUse", input, { tool_input: args })
      if (decision.permissionDecision === "deny") throw new Error(decision.permissionDecisionReason)
      const context = decision.additionalContext
      if (context || input?.tool === "bash") calls.set(input?.callID, { args, context })
    },

    "tool.execute.after": async (input, output) => {
      const { args, context } = calls.get(input?.callID) ?? {}
      calls.delete(input?.callID)
      const texts = [output?.output, context]
      if (input?.tool === "bash" && output?.metadata?.exit) {
        const response = { exit_code: output.metadata.exit, output: output.output }
        texts.push(askCall("PostToolUse", input, { tool_input: args, tool_response: response }).additionalContext)
      }
      if (typeof output?.output === "string") output.output = texts.filter(Boolean).join("\n\n")
    },

    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID
      if (!session || !Array.isArray(output?.system)) return
      if (!prompts.has(session)) {
        const name = subagents.has(session) ? "SubagentStart" : "SessionStart"
        prompts.set(session, ask(name, session, { source: "startup" }).additionalContext)
      }
      if (prompts.get(session)) output.system.push(prompts.get(session))
    },

    event: async ({ event }) => {
      const { info, sessionID } = event?.properties ?? {}
      if (event?.type === "session.created" && info?.parentID) subagents.add(info.id)
      if (event?.type === "session.compacted") ask("PostCompact", sessionID)
      if (event?.type === "session.deleted" && info) {
        ask("SessionEnd", info.id)
        subagents.delete(info.id)
        prompts.delete(info.id)
      }
    },
  }
}
