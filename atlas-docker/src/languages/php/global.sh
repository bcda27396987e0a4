mkdir -p "$ATLAS_ENV/phpunit"
if composer require --no-interaction --no-progress --no-ansi --working-dir="$ATLAS_ENV/phpunit" @CONSTRAINT@; then
  :
elif [ -e /usr/local/share/atlas-debian-autoload ]; then
  echo "atlas: Debian's PHPUnit is used"
  mkdir -p "$ATLAS_ENV/phpunit/vendor/bin"
  printf %s @RUNNER@ > "$ATLAS_ENV/phpunit/vendor/bin/phpunit"
  [ ! -x /usr/bin/php ] || ln -sf /usr/bin/php "$ATLAS_ENV/bin/php"
else
  exit 1
fi
