printf 'tool\tphp\t%s\n' "$(php --version 2>&1 | head -n 1)"
printf 'tool\tcomposer\t%s\n' "$(composer --version --no-ansi 2>/dev/null | tail -n 1)"
php -m 2>/dev/null | sed -n '/^[A-Za-z]/s/^/dependency\text-/p'
composer show --no-ansi --no-interaction --format=json 2>/dev/null |
  php -r '$all = json_decode(stream_get_contents(STDIN), true); foreach ($all["installed"] ?? [] as $one) { echo "dependency\t{$one["name"]}=={$one["version"]}\n"; }'
exit 0
