#!/bin/sh
# Builds botd twice, in two directories, once with an empty build cache, and compares the bytes: sh deploy/reproduce.sh
# With a file, compares that file with a build of this source: sh deploy/reproduce.sh botd-linux-amd64
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
for place in one another/and/deeper; do
  [ "$place" != one ] && [ $# -gt 0 ] && continue
  mkdir -p "$work/$place"
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git clone -q . "$work/$place/source" # only committed files, with their revision
  else
    cp -R . "$work/$place/source"
  fi
  [ "$place" = one ] || export GOCACHE="$work/$place/cache" # the second build reuses nothing
  sh "$work/$place/source/deploy/build.sh" "$work/$place/botd"
done
theirs=${1:-$work/another/and/deeper/botd}
sha256sum "$work/one/botd" "$theirs" | sed "s#$work/##"
cmp "$work/one/botd" "$theirs"
echo "the same, $(wc -c <"$work/one/botd") bytes"
