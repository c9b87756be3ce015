#!/bin/sh
# Makes what a release ships beside the program, on any platform: sh deploy/packages/contents.sh OUT
# Manual pages, completion, unit, bill of materials, and the source that a strategy of one's own in Go is built against. BOTD names a program
# that runs here; without it one is built.
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

# Without what only tests read.
mkdir "$out/source"
git ls-files | grep -v -E '_test\.go$|/testdata/|^runtime/web/browsertest/|^clients/|^\.ci/|^deploy/' >"$out/source.list"
tar -cf - -T "$out/source.list" | tar -xf - -C "$out/source"
rm "$out/source.list"
