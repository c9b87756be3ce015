#!/bin/sh
# Builds the files of a release for one platform: sh deploy/packages/build.sh VERSION OUT
# GOOS and GOARCH select the platform. KINDS selects from archive, deb and rpm (default: all; nfpm builds deb and rpm, for Linux only). BOTD names a
# binary that is already built.
set -eu
version=${1#v}
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
GOOS=${GOOS:-$(go env GOOS)}
GOARCH=${GOARCH:-$(go env GOARCH)}
export VERSION="$version" OUT="$out" GOOS GOARCH

if [ -n "${BOTD:-}" ]; then cp "$BOTD" "$out/botd"; else sh deploy/build.sh "$out/botd"; fi
# Manual pages and completions come from a binary that runs here.
if [ "$GOOS/$GOARCH" = "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ]; then export BOTD="$out/botd"; else unset BOTD; fi
sh deploy/packages/contents.sh "$out"

archive=botd-$version-$GOOS-$GOARCH
selected() { case " ${KINDS:-archive deb rpm} " in *" $1 "*) return 0 ;; *) return 1 ;; esac }
if selected archive; then
  mkdir -p "$out/$archive"
  cp -R LICENSE README.md "$out/botd" "$out/man" "$out/source" "$out/botd.service" "$out/botd.cdx.json" "$out/botd.bash" "$out/botd.zsh" \
    "$out/botd.fish" "$out/$archive/"
  tar -C "$out" -czf "$out/$archive.tar.gz" "$archive"
  rm -rf "${out:?}/$archive"
fi
for kind in deb rpm; do
  if [ "$GOOS" = linux ] && selected "$kind"; then nfpm package -f deploy/packages/nfpm.yaml -p "$kind" -t "$out/" >/dev/null; fi
done
rm -rf "$out/source" "$out/man" "$out/botd" "$out/botd.service" "$out"/botd.bash "$out"/botd.zsh "$out"/botd.fish
mv "$out/botd.cdx.json" "$out/$archive.cdx.json"
(cd "$out" && find . -maxdepth 1 -type f -name '*botd*' ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
