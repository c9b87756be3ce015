#!/bin/sh
# Pins the images of these examples, in place, to the current digests of their registries: sh deploy/pin.sh [FILE...]
# It skips images that have a digest and images without a tag (your own image botd, a stage of the Dockerfile). If one
# digest is unavailable, it changes nothing. Review the diff before you build, and again each time you pin.
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
