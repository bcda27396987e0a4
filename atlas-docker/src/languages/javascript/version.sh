# Brings another Node than the image's from npm. $1: Node's major version, $2: npm's.
set -eo pipefail
have="$(node -p 'process.versions.node.split(".")[0]')"
if [ "$have" != "$1" ]; then
  echo "atlas: Node $have is here, Node $1 comes from npm"
  npm install --prefix "$ATLAS_ENV/tools" --no-package-lock --no-audit --no-fund "node@$1" "npm@$2"
fi
