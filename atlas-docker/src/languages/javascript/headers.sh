# Node's headers from npm, into the folder where node-gyp looks for those that it would fetch from Node's own site.
set -eo pipefail
version="$(node -p process.versions.node)"
folder="${npm_config_devdir:?}/$version"
if [ ! -d "$folder/include/node" ]; then
  work="$(mktemp -d)"
  (cd "$work" && npm pack --silent "node-$(node -p 'process.platform + "-" + process.arch')@$version" > /dev/null)
  mkdir -p "$folder"
  tar -xzf "$work"/*.tgz -C "$folder" --strip-components=1 --no-same-owner package/include
  # The layout of this folder, by node-gyp's own count. Of an older one it would fetch all again.
  echo 11 > "$folder/installVersion"
  rm -rf "$work"
fi
