#!/bin/sh
# Builds the platform-independent files of a release: sh deploy/packages/contents.sh OUT
# They are the manual pages, shell completion, systemd unit, bill of materials, and the source that a custom strategy in Go is built against.
# BOTD names a botd binary that runs on this machine; without it the script builds one.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
rm -rf "$out/source" "$out/man"
here=${BOTD:-}
if [ -z "$here" ]; then
  here=$out/botd-here
  GOOS= GOARCH= sh deploy/build.sh "$here"
fi
"$here" ops unit --mode demo --binary /usr/bin/botd >"$out/botd.service"
"$here" man --dir "$out/man" >/dev/null
for shell in bash zsh fish; do "$here" completion "$shell" >"$out/botd.$shell"; done
"$here" version --sbom >"$out/botd.cdx.json"
rm -f "$out/botd-here"

# Excludes files that only tests read.
mkdir "$out/source"
git ls-files | grep -v -E '_test\.go$|/testdata/|^runtime/web/browsertest/|^clients/|^\.ci/|^deploy/' >"$out/source.list"
tar -cf - -T "$out/source.list" | tar -xf - -C "$out/source"
rm "$out/source.list"
