#!/bin/sh
# Stops botd before a removal, not before an upgrade ("upgrade" of dpkg, 1 of rpm): positions and their stops stay at the exchange, as `shutdown` configures.
set -e
case "$1" in
  upgrade | 1) exit 0 ;;
esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl disable --now botd.service || true
fi
