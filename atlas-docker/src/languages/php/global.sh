mkdir -p "$ATLAS_ENV/phpunit"
composer require --no-interaction --no-progress --no-ansi --working-dir="$ATLAS_ENV/phpunit" @CONSTRAINT@
