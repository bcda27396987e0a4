# Brings another Node than the image's from npm. $1: Node's major version, or one with its minor, $2: npm's major.
set -eo pipefail
have="$(node -p process.versions.node)"
case "$have" in "$1".*) exit 0 ;; esac
echo "atlas: Node $have is here, Node $1 comes from npm"
# npm waits without end for the rest of a download that stands still; a new connection mostly brings it in seconds.
for try in 1 2 3; do
  timeout -k 10 240 npm install --prefix "$ATLAS_ENV/tools" --no-package-lock --no-audit --no-fund "node@$1" "npm@$2" && exit 0
  echo "atlas: Node $1 did not arrive, try $try of 3"
done
exit 1
