#!/bin/bash
# Downloads the manuals that the questions and failures in testdata are about, and
# unpacks them without installing anything: DEST/<name>/ is the root of each.
# Needs apt-get (Debian 12) and npm. Run it as: manuals.sh DEST
set -eu
dest=${1:?usage: manuals.sh DEST}
mkdir -p "$dest/.packages"
dest=$(cd "$dest" && pwd)
cd "$dest/.packages"
packages="bash-doc apache2-doc rust-doc python-pandas-doc python-pytest-doc docker-doc systemd golang-1.19-doc
  python-sqlalchemy-doc ffmpeg-doc perl-doc postfix-doc openssl libssl-doc"
for package in $packages; do
  [ -d "$package" ] && continue
  ls "$package"_*.deb >/dev/null 2>&1 || apt-get download -qq "$package"
  dpkg-deb -x "$package"_*.deb "$package.new"
  mv "$package.new" "$package"
done
# Debian's npm lacks the parts of its manual that are generated.
[ -d npm ] || { npm pack --silent npm@9.9.4 >/dev/null; mkdir npm.new; tar -xzf npm-9.9.4.tgz -C npm.new package/docs; mv npm.new npm; }
[ -d fastify ] || { npm pack --silent fastify@4.29.1 >/dev/null; mkdir fastify.new; tar -xzf fastify-4.29.1.tgz -C fastify.new package/docs; mv fastify.new fastify; }
# OpenSSL's manual pages come in two packages.
[ -d openssl-man ] || { mkdir openssl-man.new; cp -a openssl/usr/share/man/man[157] libssl-doc/usr/share/man/man3 openssl-man.new; mv openssl-man.new openssl-man; }
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
link sqlalchemy python-sqlalchemy-doc/usr/share/doc/python-sqlalchemy-doc/html
link ffmpeg ffmpeg-doc/usr/share/doc/ffmpeg/manual
link perl perl-doc/usr/share/man
link postfix postfix-doc/usr/share/doc/postfix/html
link openssl openssl-man
link fastify fastify/package/docs
