command -v composer > /dev/null || {
  php -r 'exit(copy("https://getcomposer.org/download/@CHANNEL@/composer.phar", "/usr/local/bin/composer") ? 0 : 1);' &&
    chmod +x /usr/local/bin/composer
} || { rm -f /usr/local/bin/composer; echo "atlas: composer cannot be downloaded"; }
