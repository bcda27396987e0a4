# What npm refused to install, with less and less of what it asks for: no install scripts, which mostly do what tests do
# not need, no peers, no lockfile that disagrees with its manifest, no date.
#   npm-anyhow ci                     by a lockfile
#   npm-anyhow install [OPTION...]    without; options that only the first try has
# If nothing helps, it says which development dependencies ask for a repository or an address instead of a release:
# these may be out of reach.
set -u
how=$1
shift
# A host that is out of reach is asked once more, and soon.
export npm_config_fetch_retries=1 npm_config_fetch_retry_mintimeout=1000
echo 'atlas: the install failed, again without install scripts'
lenient=(--no-audit --no-fund --legacy-peer-deps --ignore-scripts)
if [ "$how" = ci ]; then
  npm ci "${lenient[@]}" && exit
else
  lenient+=(--no-package-lock)
  npm install "$@" "${lenient[@]}" && exit
fi
# npm 6 ends now and then with an error of its own: again, then by the image's own npm.
npm install "${lenient[@]}" || npm install "${lenient[@]}" || PATH="${PATH#*:}" npm install "${lenient[@]}" && exit
node -e '
  const { execFileSync } = require("child_process");
  const development = require("./package.json").devDependencies || {};
  for (const [name, range] of Object.entries(development)) {
    let releases;
    try {
      const asked = ["view", `${name}@${range}`, "dependencies", "--json"];
      releases = JSON.parse(execFileSync("npm", asked, { stdio: ["ignore", "pipe", "ignore"] }));
    } catch (none) {
      continue;
    }
    const specs = [].concat(...[].concat(releases).map((dependencies) => Object.values(dependencies || {})));
    // Ranges of releases have neither.
    const elsewhere = specs.find((spec) => /[:/]/.test(spec) && !/^(npm|workspace):/.test(spec));
    if (elsewhere) console.log(`atlas: ${name} asks for ${elsewhere}`);
  }
'
exit 1
