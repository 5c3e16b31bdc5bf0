// Replaces the launcher with the native binary, so that no call starts Node. If
// this fails, the launcher stays.
'use strict'
const fs = require('fs')
const path = require('path')
const { binary } = require('./platform.js')

const launcher = path.join(__dirname, 'bin', 'docsearch')
const temporary = `${launcher}-${process.pid}`
const yarn = /^yarn\//.test(process.env.npm_config_user_agent || '') // runs commands with Node
const program = binary()
if (program && process.platform !== 'win32' && !yarn) {
  if (process.platform === 'linux') rewrite(program)
  try {
    try {
      fs.linkSync(program, temporary)
    } catch {
      fs.copyFileSync(program, temporary) // another file system
      fs.chmodSync(temporary, 0o755)
    }
    fs.renameSync(temporary, launcher)
  } catch {
    fs.rmSync(temporary, { force: true })
  }
}

// rewrite writes a program again, in one call. Linux caches a file in blocks that are as
// large as its writes, and npm writes 64 KB or less. From larger blocks, the hook starts a
// fifth faster. If this fails, the file stays.
function rewrite (file) {
  const copy = `${file}-${process.pid}`
  try {
    fs.writeFileSync(copy, fs.readFileSync(file))
    fs.chmodSync(copy, 0o755)
    fs.renameSync(copy, file)
  } catch {
    fs.rmSync(copy, { force: true })
  }
}
