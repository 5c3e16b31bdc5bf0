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
  const temporary = `${launcher}-${process.pid}`
  if (!native) return
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
