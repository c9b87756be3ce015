#!/bin/sh
# Writes the provenance of a release's files (in-toto statement, SLSA provenance 1.0): sh deploy/packages/provenance.sh VERSION DIRECTORY
# Its subjects are the files in DIRECTORY/SHA256SUMS. Sign it like the checksums. Building the revision with the same Go version reproduces these files.
set -eu
cd "$2"
source=$(git -C "$OLDPWD" config --get remote.origin.url || echo "local")
revision=$(git -C "$OLDPWD" rev-parse HEAD)
{
  printf '{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://slsa.dev/provenance/v1","subject":['
  awk '{ printf "%s{\"name\":\"%s\",\"digest\":{\"sha256\":\"%s\"}}", (NR > 1 ? "," : ""), $2, $1 }' SHA256SUMS
  printf '],"predicate":{"buildDefinition":{"buildType":"https://botd.invalid/deploy/packages/build.sh@v1","externalParameters":{"version":"%s"},' "${1#v}"
  printf '"internalParameters":{"go":"%s"},' "$(go env GOVERSION)"
  printf '"resolvedDependencies":[{"uri":"git+%s","digest":{"gitCommit":"%s"}}]},' "$source" "$revision"
  printf '"runDetails":{"builder":{"id":"https://botd.invalid/maintainers"},"metadata":{"invocationId":"%s"}}}}\n' "$revision"
} >"botd-${1#v}.intoto.json"
