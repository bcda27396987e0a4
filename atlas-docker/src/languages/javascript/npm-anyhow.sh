# What npm refused to install, with less and less of what it asks for: no install scripts, which mostly do what tests do
# not need, no peers, no lockfile that disagrees with its manifest, no date.
#   npm-anyhow ci                     by a lockfile
#   npm-anyhow install [OPTION...]    without; options that only the first try has
set -u
how=$1
shift
echo 'atlas: the install failed, again without install scripts'
lenient=(--no-audit --no-fund --legacy-peer-deps --ignore-scripts)
if [ "$how" = ci ]; then
  npm ci "${lenient[@]}" && exit
else
  lenient+=(--no-package-lock)
  npm install "$@" "${lenient[@]}" && exit
fi
# npm 6 ends now and then with an error of its own: again, then by the image's own npm.
npm install "${lenient[@]}" || npm install "${lenient[@]}" || PATH="${PATH#*:}" npm install "${lenient[@]}"
