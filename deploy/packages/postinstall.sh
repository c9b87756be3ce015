#!/bin/sh
# After an installation or an upgrade: a running botd is started again with the new program. Nothing is enabled or started otherwise.
set -e
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart botd.service
fi
