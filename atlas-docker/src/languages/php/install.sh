# Composer's packages, with less and less of what it asks for where it refuses.
#   composer-install [TOOL...]   development packages that tests do without
set -eo pipefail
flags="--no-interaction --no-progress --no-ansi"
# Scripts and lists of classes need the sources.
[ -z "${ATLAS_WARM:-}" ] || flags="$flags --no-scripts --no-autoloader"
tools="$*"
# Where no host of locked packages has an address, Composer would wait for each of them again and again.
is_cut_off() {
  [ -f composer.lock ] && [ -z "${http_proxy:-}${https_proxy:-}${HTTPS_PROXY:-}${all_proxy:-}${ALL_PROXY:-}" ] || return 1
  local host
  hosts=$(grep -oE '"url": "https?://[^/":]+' composer.lock | sed 's|.*//||' | sort -u)
  [ -n "$hosts" ] || return 1
  for host in $hosts; do
    if getent hosts "$host" > /dev/null; then return 1; fi
  done
}
if is_cut_off; then
  # Out of its cache, or not at all.
  COMPOSER_DISABLE_NETWORK=1 composer install $flags || {
    echo "error: Could not resolve host: ${hosts//$'\n'/, }" >&2
    exit 1
  }
  exit
fi
lean() {
  [ -n "$tools" ] && [ ! -f composer.lock ] || return 1
  cp composer.json composer.json.atlas
  composer remove --dev --no-update $flags $tools && composer install $flags && done=0 || done=1
  mv composer.json.atlas composer.json
  return $done
}
if composer install $flags; then
  :
elif composer install $flags --no-scripts --no-plugins; then
  echo "atlas: packages are installed without their scripts and plugins"
elif lean; then
  echo "atlas: tools that tests do not need are left out: $tools"
elif composer install $flags --no-scripts --no-plugins --ignore-platform-reqs; then
  echo "atlas: packages are installed although this PHP is not what they ask for"
else
  exit 1
fi
