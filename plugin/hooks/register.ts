// Answers web searches and fetches from local documentation with a result.
//
// A command hook can answer a call only by denying it, which Claude Code shows
// as an error. This module runs the same hook and returns the passages as the
// result of the call. If there is no answer or anything fails, next(e) leaves
// the call to the command hook.
//
// It needs version 2.1.328; older versions ignore it.
import type { Register } from 'claude-code'

// `docsearch install` sets the path of the program. In the plugin, the
// environment variable DOCSEARCH_MODULES=1 turns the module on.
const PROGRAM: string = ''

export const register: Register = on => {
  on('tool.call', { tool: 'WebSearch' }, async ($, e, next) => {
    const answer = await ask($, e)
    return answer === undefined
      ? next(e)
      : {
          result: {
            query: e.query,
            results: [...linksOf(e.tool_use_id, answer.text), answer.text],
            durationSeconds: answer.ms / 1000,
            searchCount: 1,
          },
        }
  }).catch(($, e, next) => next(e))

  on('tool.call', { tool: 'WebFetch' }, async ($, e, next) => {
    const answer = await ask($, e)
    return answer === undefined
      ? next(e)
      : {
          result: {
            url: e.url,
            code: 200,
            codeText: 'OK',
            bytes: answer.text.length,
            result: answer.text,
            durationMs: answer.ms,
          },
        }
  }).catch(($, e, next) => next(e))
}

// Claude Code's calls that ask uses.
type Client = {
  clock: { now(): Promise<number> }
  env: { get(name: string): Promise<string | undefined> }
  plugin: { root: string }
  process: {
    hookEnv(): Promise<Record<string, string>>
    run(
      argv: string[],
      init: { env: Record<string, string>; stdin: string; timeoutMs: number },
    ): Promise<Run>
  }
  session: {
    id(): Promise<string>
    cwd(): Promise<string>
    info(): Promise<{ transcriptPath?: string; promptId?: string }>
  }
  ui: { notice(tool_use_id: string, text: string): unknown }
}

type Run = { exitCode: number | null; stdout: string; isStdoutTruncated: boolean }

type Answer = { text: string; ms: number }

type Call = { tool: string; tool_use_id: string; agentId?: string }

// ask runs the hook for a call. It returns the answer, or undefined if there is
// none.
async function ask($: Client, e: Call): Promise<Answer | undefined> {
  if (PROGRAM === '' && (await $.env.get('DOCSEARCH_MODULES')) !== '1') {
    return undefined
  }
  const start = await $.clock.now()
  const info = await $.session.info()
  const { tool, tool_use_id, agentId, ...input } = e
  const event = {
    hook_event_name: 'PreToolUse',
    session_id: await $.session.id(),
    transcript_path: info.transcriptPath,
    prompt_id: info.promptId,
    cwd: await $.session.cwd(),
    agent_id: agentId,
    tool_name: tool,
    tool_use_id,
    tool_input: input,
    // The command hook gets the calls that this run does not answer.
    docsearch_answers_only: true,
  }
  // CLAUDE_PLUGIN_ROOT tells the hook that the server is the plugin's.
  const [program, env] =
    PROGRAM === ''
      ? [`${$.plugin.root}/scripts/docsearch`, await $.process.hookEnv()]
      : [PROGRAM, {}]
  const run = await $.process.run([program, 'hook'], {
    env,
    stdin: JSON.stringify(event),
    timeoutMs: 5000,
  })
  const answer = answerOf(run)
  if (answer === undefined) {
    return undefined
  }
  if (answer.notice !== undefined) {
    try {
      await $.ui.notice(tool_use_id, answer.notice)
    } catch {
      // The person sees the result all the same.
    }
  }
  return { text: answer.text, ms: (await $.clock.now()) - start }
}

// answerOf returns the hook's answer to the call, or undefined.
function answerOf(run: Run): { text: string; notice?: string } | undefined {
  if (run.exitCode !== 2 || run.isStdoutTruncated) {
    return undefined
  }
  const { hookSpecificOutput: output, systemMessage: notice } = JSON.parse(run.stdout)
  return output.permissionDecision === 'deny' && output.additionalContext
    ? { text: `${output.permissionDecisionReason}\n\n${output.additionalContext}`, notice }
    : undefined
}

// linksOf returns the pages of the passages that have a URL, in the form of a web
// search. Quoted text, which is between fences, adds none.
function linksOf(
  tool_use_id: string,
  text: string,
): { tool_use_id: string; content: { title: string; url: string }[] }[] {
  const content: { title: string; url: string }[] = []
  let fence = ''
  let title = ''
  for (const line of text.split('\n')) {
    if (fence !== '') {
      fence = line === fence ? '' : fence
      continue
    }
    fence = /^`{3,}$/.test(line) ? line : ''
    title = /^\[\d+\] (.*)/.exec(line)?.[1] ?? title
    const url = /^Source: (https?:\/\/\S+)/.exec(line)?.[1]
    if (url !== undefined && !content.some(link => link.url === url)) {
      content.push({ title, url })
    }
  }
  return content.length === 0 ? [] : [{ tool_use_id, content }]
}
