#!/bin/sh
# Puts a link in place of what the editable install copied, so that a rebuilt bundle is served without reinstalling.
# Usage: link.sh SOURCE TARGET
set -eu
mkdir -p "$(dirname "$2")"
rm -rf "$2"
ln -s "$1" "$2"
