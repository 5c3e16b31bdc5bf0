'use strict'
const path = require('path')

exports.name = `docsearch-cli-${process.platform}-${process.arch}`
exports.programs = ['docsearch', 'docsearch-hook']

// binary returns the path of the native binary of a program, or undefined if its package
// is not installed.
exports.binary = program => {
  try {
    const folder = path.dirname(require.resolve(`${exports.name}/package.json`))
    return path.join(folder, 'bin', process.platform === 'win32' ? `${program}.exe` : program)
  } catch {
    return undefined
  }
}
