#!/bin/sh
# Makes sure that there is a Chromium for the browser tests. Where none can be had, the tests say so at their end.
set -eu
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
install='apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core'
if [ "$(id -u)" = 0 ]; then
  sh -c "$install" >/dev/null 2>&1 || echo "chromium could not be installed; the browser tests will not run" >&2
elif sudo -n true 2>/dev/null; then
  sudo sh -c "$install" >/dev/null 2>&1 || echo "chromium could not be installed; the browser tests will not run" >&2
else
  echo "chromium is not there and cannot be installed without root; the browser tests will not run" >&2
fi
