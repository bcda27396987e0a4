if (for try in 1 2 3; do php -d default_socket_timeout=60 -r 'exit(@file_get_contents("https://repo.packagist.org/packages.json") === false ? 1 : 0);' && exit 0; sleep 2; done; exit 1); then
  exit 0
fi
rm -f /etc/apt/preferences.d/no-debian-php
apt-get update
apt-get install -y --no-install-recommends php-cli php-mbstring php-xml php-curl composer phpunit
found=""
for library in @LIBRARIES@; do
  short="${library#*/}"
  for name in "php-${library/\//-}" "php-$short" "php-${short#php-}"; do
    if apt-cache show "$name" > /dev/null 2>&1; then
      found="$found $name"
      continue 2
    fi
  done
  say "Debian has no package of $library"
done
for name in $found; do
  apt-get install -y --no-install-recommends "$name" || say "not installed: $name"
done
say "no registry of PHP packages can be reached: PHP and libraries are Debian's"
# Some have a file of another name, which Debian notes for its own builds.
for name in phpunit $found; do
  dpkg -L "$name" 2> /dev/null | grep '^/usr/share/php/.*/autoload\.php$' || true
  awk 'NF { print "/usr/share/php/" $NF }' "/usr/share/pkg-php-tools/autoloaders/$name" 2> /dev/null || true
done | sort -u | while IFS= read -r file; do
  case "$file" in /usr/share/php/PHPUnit/* | */tests/*) continue ;; esac
  [ ! -f "$file" ] || echo "$file"
done > autoload
rm -rf /var/lib/apt/lists/*
install -m 755 composer /usr/local/bin/composer
