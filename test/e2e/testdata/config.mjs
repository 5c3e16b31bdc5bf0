// Prints how a desktop application starts the server of the bundle in the folder argv[2].
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, library] = process.argv.slice(2)
const { getMcpConfigForManifest } = await import(pathToFileURL(library))
const config = await getMcpConfigForManifest({
  manifest: JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8')),
  extensionPath: folder,
  systemDirs: { HOME: os.homedir() },
  userConfig: {},
  pathSeparator: path.sep,
})
console.log(JSON.stringify(config))
