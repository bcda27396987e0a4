log="$(mktemp)"
for extension in @EXTENSIONS@; do
  if php -m | grep -ix -e "$extension" -e "zend $extension" > /dev/null; then
    continue
  fi
  case "$extension" in
    dom | simplexml | xmlreader | xmlwriter | xsl) package=php-xml ;;
    mysqli | pdo_mysql) package=php-mysql ;;
    pgsql | pdo_pgsql) package=php-pgsql ;;
    pdo_sqlite) package=php-sqlite3 ;;
    *) package="php-$extension" ;;
  esac
  if command -v docker-php-ext-install > /dev/null; then
    { docker-php-ext-install "$extension" || { yes '' | pecl install "$extension"; docker-php-ext-enable "$extension"; }; } > "$log" 2>&1 ||
      { tail -n 5 "$log"; echo "atlas: not installed: PHP extension $extension"; }
  else
    { apt-get update && apt-get install -y --no-install-recommends "$package"; } > "$log" 2>&1 ||
      { tail -n 5 "$log"; echo "atlas: not installed: PHP extension $extension"; }
  fi
done
rm -rf "$log" /var/lib/apt/lists/*
