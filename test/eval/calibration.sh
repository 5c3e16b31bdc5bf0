#!/bin/bash
# Downloads the manuals of the calibration searches and unpacks them without installing
# anything: DEST/<name>/ is the root of each. Needs apt-get (Debian 12), go and npm.
# Run it as: calibration.sh DEST
set -eu
dest=${1:?usage: calibration.sh DEST}
mkdir -p "$dest/.packages"
dest=$(cd "$dest" && pwd)
cd "$dest/.packages"

# manual NAME PACKAGE FOLDER links the folder of a Debian package.
manual() {
  if [ ! -d "$2" ]; then
    ls "$2"_*.deb >/dev/null 2>&1 || apt-get download -qq "$2"
    mkdir "$2.new"
    dpkg-deb -x "$2"_*.deb "$2.new"
    mv "$2.new" "$2"
  fi
  ln -sfn ".packages/$2/$3" "$dest/$1"
}

# module NAME MODULE@VERSION FOLDER links the folder of a Go module.
module() {
  dir=$(cd / && GOMODCACHE="$dest/.packages/modules" go mod download -json "$2" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  ln -sfn "$dir/$3" "$dest/$1"
}

# package NAME PACKAGE@VERSION FOLDER links the folder of an npm package.
package() {
  if [ ! -d "$1" ]; then
    archive=$(npm pack --silent "$2")
    mkdir "$1.new"
    tar -xzf "$archive" -C "$1.new"
    mv "$1.new" "$1"
  fi
  ln -sfn ".packages/$1/package/$3" "$dest/$1"
}

doc=usr/share/doc
manual flask python-flask-doc $doc/python-flask-doc/html
manual celery python-celery-doc $doc/python-celery-doc/html
manual sphinx sphinx-doc $doc/sphinx-doc/html
manual bind bind9-doc $doc/bind9-doc/arm
manual exim exim4-doc-html $doc/exim4-doc-html/spec_html
manual varnish varnish-doc $doc/varnish/html
manual libvirt libvirt-doc $doc/libvirt-doc/html
manual glib libglib2.0-doc usr/share/gtk-doc/html
manual postgis postgis-doc $doc/postgis-doc
manual aiohttp python-aiohttp-doc $doc/python-aiohttp-doc/html
manual tornado python-tornado-doc $doc/python-tornado-doc/html
manual sklearn python-sklearn-doc $doc/python-sklearn-doc/html
manual click python-click-doc $doc/python-click-doc/html
manual swipl swi-prolog-doc usr/share/swi-prolog/doc
manual ovs openvswitch-doc $doc/openvswitch-doc/html
manual fish fish-common $doc/fish
manual borg borgbackup-doc $doc/borgbackup/html
manual krb5 krb5-doc $doc/krb5-doc
manual slurm slurm-wlm-doc $doc/slurm-wlm/html
manual icinga2 icinga2-doc $doc/icinga2/markdown
manual rsyslog rsyslog-doc $doc/rsyslog-doc/html
manual doxygen doxygen-doc $doc/doxygen/html
manual lilypond lilypond-doc-html $doc/lilypond/html/Documentation
manual gnuplot gnuplot-doc $doc/gnuplot/htmldocs
manual autoconf autoconf-doc usr/share/info
manual tmux tmux usr/share/man
manual jinja python-jinja2-doc $doc/python-jinja2-doc/html
manual scrapy python-scrapy-doc $doc/python-scrapy-doc/html
manual nut nut-doc $doc/nut-doc/html
manual jq jq usr/share/man
manual dnsmasq dnsmasq-base usr/share/man
manual valgrind valgrind $doc/valgrind/html

# The manuals of two programs come in two places each.
manual curl curl usr/share/man
manual libcurl libcurl4-doc usr/share/man
manual mercurial mercurial-common usr/share/man
if [ ! -d both ]; then
  mkdir -p both.new/curl both.new/mercurial
  cp -r curl/usr/share/man/. libcurl4-doc/usr/share/man/. both.new/curl
  cp -r mercurial-common/usr/share/man/. both.new/mercurial
  cp mercurial-common/usr/lib/python3/dist-packages/mercurial/helptext/*.txt both.new/mercurial
  rm both.new/mercurial/*.[0-9].txt # the same as manual pages
  mv both.new both
fi
rm "$dest/libcurl"
ln -sfn .packages/both/curl "$dest/curl"
ln -sfn .packages/both/mercurial "$dest/mercurial"

module cilium github.com/cilium/cilium@v1.16.0 Documentation
module coredns github.com/coredns/coredns@v1.12.0 plugin
module task github.com/go-task/task/v3@v3.44.0 website/docs
module fiber github.com/gofiber/fiber/v2@v2.52.8 docs
module goreleaser github.com/goreleaser/goreleaser/v2@v2.8.0 www/docs
module loki github.com/grafana/loki/v3@v3.5.0 docs/sources
module opa github.com/open-policy-agent/opa@v1.4.0 docs/content
module contour github.com/projectcontour/contour@v1.32.0 site/content/docs/1.31
module externaldns sigs.k8s.io/external-dns@v0.18.0 docs
package undici undici@6.19.8 docs
package pino pino@9.4.0 docs
module thanos github.com/thanos-io/thanos@v0.38.0 docs
module golangci github.com/golangci/golangci-lint@v1.64.8 docs/src/docs
