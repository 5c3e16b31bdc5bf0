// docsearch answers page fetches from local documentation, applies the user's rules, and
// adds notes. "docsearch install --client cline" writes this file.
import { spawnSync } from "node:child_process"

const program = "DOCSEARCH_PROGRAM"

let folder = process.cwd()
const sessions = new Set() // IDs of the sessions that have started

// ask returns the decision about an event. On any error there is none: the call runs as
// usual.
const ask = (name, context, event) => {
  try {
    const { conversationId, agentId, parentAgentId } = context.snapshot
    const input = JSON.stringify({
      hook_event_name: name,
      session_id: conversationId ?? agentId,
      agent_id: parentAgentId ? agentId : undefined,
      cwd: folder,
      ...event,
    })
    const run = spawnSync(program, ["hook", "--client", "cline"], {
      input,
      encoding: "utf8",
      timeout: 2000,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    })
    return (run.stdout && JSON.parse(run.stdout).hookSpecificOutput) || {}
  } catch {
    return {}
  }
}

const askCall = (name, context, response) =>
  ask(name, context, {
    tool_use_id: context?.toolCall?.toolCallId,
    tool_name: context?.toolCall?.toolName,
    tool_input: context?.input,
    tool_response: response,
  })

const answer = ({ permissionDecision, permissionDecisionReason, additionalContext }) => {
  if (permissionDecision === "deny") return { skip: true, reason: permissionDecisionReason }
  if (additionalContext) return { appendContext: additionalContext }
}

export default {
  name: "docsearch",
  manifest: { capabilities: ["hooks"] },

  setup(_, context) {
    folder = context?.workspaceInfo?.rootPath ?? folder
  },

  hooks: {
    async beforeRun(context) {
      const { conversationId, parentAgentId } = context?.snapshot ?? {}
      if (sessions.has(conversationId)) return
      sessions.add(conversationId)
      return answer(ask(parentAgentId ? "SubagentStart" : "SessionStart", context, { source: "startup" }))
    },

    async beforeTool(context) {
      return answer(askCall("PreToolUse", context))
    },

    async afterTool(context) {
      if (context?.toolCall?.toolName !== "run_commands") return
      return answer(askCall("PostToolUse", context, context.result?.output))
    },
  },
}
