for tool in g++ cmake ninja meson autoconf automake pkg-config; do
  ! command -v $tool > /dev/null || printf 'tool\t%s\t%s\n' $tool "$($tool --version 2>&1 | head -n 1)"
done
dpkg-query -W -f 'dependency\t${Package} ${Version}\n' '*-dev' 2> /dev/null | awk 'NF > 2'
exit 0
