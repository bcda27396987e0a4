#!/bin/bash
# composer where no registry of PHP packages can be reached: what it would install are Debian's
# packages, which are there, and Debian's PHPUnit under the names of the project's.
place=.
words=()
for word; do
  case $word in
    --working-dir=*) place=${word#*=} ;;
    -*) ;;
    *) words+=("$word") ;;
  esac
done
case "${words[0]:-}" in
  install | update)
    /usr/bin/composer dump-autoload --dev --no-interaction --no-scripts --no-plugins
    ;;
  require) ;;
  *) exec /usr/bin/composer "$@" ;;
esac
mkdir -p "$place/vendor/bin" "$ATLAS_ENV/bin"
for name in phpunit simple-phpunit; do
  install -m 755 /opt/atlas/substitutes/phpunit.php "$place/vendor/bin/$name"
done
ln -sf /usr/bin/php "$ATLAS_ENV/bin/php"
