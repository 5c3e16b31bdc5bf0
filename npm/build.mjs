// Writes the npm packages of a release to DIST/npm, one folder for each package:
//
//   node npm/build.mjs DIST
//
// DIST is the output folder of goreleaser. The package docsearch-cli depends on
// one package for each platform, of which npm installs the matching one.
import fs from 'node:fs'
import path from 'node:path'

const source = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname)
const root = path.dirname(source)
const dist = process.argv[2]
if (!dist) {
  console.error('build.mjs: want one argument: the output folder of goreleaser')
  process.exit(1)
}
const { version } = readJSON(path.join(dist, 'metadata.json'))
const module = fs.readFileSync(path.join(root, 'go.mod'), 'utf8').match(/^module (.*)$/m)[1]
const out = path.join(dist, 'npm')
fs.rmSync(out, { recursive: true, force: true })

const common = {
  version,
  license: 'MIT',
  homepage: `https://${module}`,
  repository: { type: 'git', url: `git+https://${module}.git` },
}
const binaries = readJSON(path.join(dist, 'artifacts.json')).filter(artifact => artifact.type === 'Binary')
const platforms = [...new Set(binaries.map(writePlatform))].sort()
writePackage('docsearch-cli', {
  description: "Answers a coding agent's web searches from local documentation",
  keywords: ['documentation', 'search', 'offline', 'mcp', 'mcp-server', 'claude-code'],
  mcpName: `io.${module.replace('.com/', '.')}`,
  // Of several commands, npx runs the one with the package's name.
  bin: { docsearch: 'bin/docsearch', 'docsearch-cli': 'bin/docsearch', 'docsearch-hook': 'bin/docsearch-hook' },
  scripts: { postinstall: 'node postinstall.js' },
  engines: { node: '>=18' },
  optionalDependencies: Object.fromEntries(platforms.map(name => [name, version])),
})
for (const file of ['bin/docsearch', 'bin/docsearch-hook', 'launch.js', 'platform.js', 'postinstall.js', 'README.md']) {
  copy(path.join(source, file), path.join(out, 'docsearch-cli', file), file.startsWith('bin/') ? 0o755 : 0o644)
}

// writePlatform writes a binary to the package of its platform and returns the package's name.
function writePlatform({ goos, goarch, path: binary }) {
  const os = goos === 'windows' ? 'win32' : goos
  const cpu = goarch === 'amd64' ? 'x64' : goarch
  const name = `docsearch-cli-${os}-${cpu}`
  writePackage(name, {
    description: `The docsearch binaries for ${os} on ${cpu}; install docsearch-cli`,
    os: [os],
    cpu: [cpu],
    preferUnplugged: true,
  })
  copy(path.resolve(root, binary), path.join(out, name, 'bin', path.basename(binary)), 0o755)
  return name
}

function writePackage(name, fields) {
  fs.mkdirSync(path.join(out, name), { recursive: true })
  fs.writeFileSync(path.join(out, name, 'package.json'), JSON.stringify({ name, ...common, ...fields }, null, 2) + '\n')
  copy(path.join(root, 'LICENSE'), path.join(out, name, 'LICENSE'), 0o644)
}

function copy(from, to, mode) {
  fs.mkdirSync(path.dirname(to), { recursive: true })
  fs.copyFileSync(from, to)
  fs.chmodSync(to, mode)
}

function readJSON(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'))
}
