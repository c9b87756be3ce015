#!/bin/sh
# After an installation or an upgrade: restarts a running botd with the new program. It enables and starts nothing else.
set -e
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart botd.service
fi
