# Composer's packages, with less and less of what it asks for where it refuses.
#   composer-install [TOOL...]   development packages that tests do without
set -eo pipefail
flags="--no-interaction --no-progress --no-ansi"
# Scripts and lists of classes need the sources.
[ -z "${ATLAS_WARM:-}" ] || flags="$flags --no-scripts --no-autoloader"
tools="$*"
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
