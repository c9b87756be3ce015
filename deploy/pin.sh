#!/bin/sh
# Pins the images of these examples, in place, by the digests that their registries have now: sh deploy/pin.sh [FILE...]
# What has a digest, and what has no tag (your own image botd, a stage of the Dockerfile), stays as it is. Where one digest
# is not to be had, nothing changes. Look through the difference before you build, and again whenever you pin again.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- docker/Dockerfile compose/compose.yaml kubernetes/botd.yaml
script=
for image in $(sed -n -E 's/^ *(FROM|-? ?image:) +([^ @#]+:[^ @#/]+)( .*)?$/\2/p' "$@" | sort -u); do
  digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
  case $digest in
    sha256:????????????????????????????????????????????????????????????????) ;;
    *) echo "$image: want a digest, have '$digest'" >&2; exit 1 ;;
  esac
  echo "$image@$digest"
  script="$script
s#^( *(FROM|-? ?image:) +$image)( .*)?\$#\\1@$digest\\3#"
done
for file in "$@"; do
  sed -E "$script" "$file" > "$file.pinned"
  cat "$file.pinned" > "$file"
  rm "$file.pinned"
done
