#!/bin/sh
# Builds botd reproducibly: the same source and Go version give the same bytes on any machine. sh deploy/build.sh [OUT]
# GOOS and GOARCH select another platform.
set -eu
cd "$(dirname "$0")/.."
out=${1:-botd}
# One static file without cgo, paths of the build machine (-trimpath), a linker build id, or symbols.
CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -trimpath -buildvcs="${BUILDVCS:-auto}" -ldflags="-s -w -buildid=" -o "$out" ./cmd/botd
