'use strict'
const path = require('path')

exports.name = `docsearch-cli-${process.platform}-${process.arch}`

// binary returns the path of the native binary, or undefined if its package is
// not installed.
exports.binary = () => {
  try {
    const folder = path.dirname(require.resolve(`${exports.name}/package.json`))
    return path.join(folder, 'bin', process.platform === 'win32' ? 'docsearch.exe' : 'docsearch')
  } catch {
    return undefined
  }
}
