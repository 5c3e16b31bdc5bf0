#!/bin/bash
# Downloads the manuals that the questions and failures in testdata are about, and
# unpacks them without installing anything: DEST/<name>/ is the root of each.
# Needs apt-get (Debian 12) and npm. Run it as: manuals.sh DEST
set -eu
dest=${1:?usage: manuals.sh DEST}
mkdir -p "$dest/.packages"
dest=$(cd "$dest" && pwd)
cd "$dest/.packages"
packages="bash-doc apache2-doc rust-doc python-pandas-doc python-pytest-doc docker-doc systemd golang-1.19-doc"
for package in $packages; do
  [ -d "$package" ] && continue
  ls "$package"_*.deb >/dev/null 2>&1 || apt-get download -qq "$package"
  dpkg-deb -x "$package"_*.deb "$package.new"
  mv "$package.new" "$package"
done
# Debian's npm lacks the parts of its manual that are generated.
[ -d npm ] || { npm pack --silent npm@9.9.4 >/dev/null; mkdir npm.new; tar -xzf npm-9.9.4.tgz -C npm.new package/docs; mv npm.new npm; }
cd "$dest"
link() { [ -d ".packages/$2" ] || { echo "missing: $2" >&2; exit 1; }; ln -sfn ".packages/$2" "$1"; }
link bash bash-doc/usr/share/doc/bash
link apache apache2-doc/usr/share/doc/apache2-doc/manual/en
link rust rust-doc/usr/share/doc/rust-doc/html
link pandas python-pandas-doc/usr/share/doc/python-pandas-doc/html
link pytest python-pytest-doc/usr/share/doc/python-pytest-doc/html
link docker docker-doc/usr/share/doc/docker-doc
link npm npm/package/docs/output
link systemd systemd/usr/share/man
link go golang-1.19-doc/usr/share/doc/golang-1.19-doc/html
