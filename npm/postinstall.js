// Replaces the launchers with the native binaries, so that no call starts Node. If this
// fails, a launcher stays.
'use strict'
const fs = require('fs')
const path = require('path')
const { binary, programs } = require('./platform.js')

const yarn = /^yarn\//.test(process.env.npm_config_user_agent || '') // runs commands with Node
if (process.platform !== 'win32' && !yarn) {
  for (const program of programs) replace(path.join(__dirname, 'bin', program), binary(program))
}

function replace (launcher, native) {
  if (!native) return
  if (process.platform === 'linux') rewrite(native)
  const temporary = `${launcher}-${process.pid}`
  try {
    try {
      fs.linkSync(native, temporary)
    } catch {
      fs.copyFileSync(native, temporary) // another file system
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
