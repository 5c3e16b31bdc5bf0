'use strict'
const { spawn } = require('child_process')
const { binary, name } = require('./platform.js')

// launch runs the native binary of a program, docsearch or docsearch-hook, with the
// arguments of this process.
module.exports = program => {
  const path = binary(program)
  if (!path) {
    console.error(`docsearch: cannot find the package ${name}`)
    console.error('hint: run npm install -g docsearch-cli, without --omit=optional')
    process.exit(1)
  }
  const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
  child.on('error', err => {
    console.error(`docsearch: cannot run ${path}: ${err.message}`)
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
