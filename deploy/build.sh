#!/bin/sh
# Builds botd so that the same source gives the same bytes, wherever and whenever: sh deploy/build.sh [OUT]
# GOOS and GOARCH choose another platform. Same Go version, same source, same bytes.
set -eu
cd "$(dirname "$0")/.."
out=${1:-botd}
# No cgo: one static file. No paths of this machine (-trimpath), no build id of the linker, no symbols.
CGO_ENABLED=0 GOFLAGS=-mod=readonly go build -trimpath -buildvcs="${BUILDVCS:-auto}" -ldflags="-s -w -buildid=" -o "$out" ./cmd/botd
