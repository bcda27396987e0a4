# The JDK that is wanted, from Debian's newer releases; else the oldest there that takes the code's level.
have="$(javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')"
for suite in trixie forky; do
  list="/etc/apt/sources.list.d/newer-$suite.list"
  echo "deb http://deb.debian.org/debian $suite main" > "$list"
  apt-get update || rm "$list"
done
jdks() { apt-cache search --names-only '^openjdk-[0-9]+-jdk-headless$' | sed 's/^openjdk-\([0-9]*\)-.*/\1/' | sort -nu; }
take="$(jdks | grep -x @JDK@ || true)"
if [ -z "$take" ] && [ "${have:-0}" -lt @LEVEL@ ]; then
  take="$(jdks | awk '$1 >= @LEVEL@' | head -n 1)"
fi
if [ -n "$take" ]; then
  suite="$(apt-cache madison "openjdk-$take-jdk-headless" | sed -n 's|.* \([a-z]*\)/main .*|\1|p' | head -n 1)"
  mkdir -p /usr/share/man/man1
  apt-get install -y --no-install-recommends -t "$suite" "openjdk-$take-jdk-headless"
  home="$(dirname "$(dirname "$(readlink -f "/usr/lib/jvm/java-$take-openjdk-$(dpkg --print-architecture)/bin/javac")")")"
  if [ -n "${JAVA_HOME:-}" ] && [ "$JAVA_HOME" != "$home" ]; then
    mv "$JAVA_HOME" "$JAVA_HOME.other"
    ln -s "$home" "$JAVA_HOME"
  fi
  say "JDK $take is Debian's, of the release $suite: the base image has ${have:-none}"
fi
rm -rf /etc/apt/sources.list.d/newer-*.list /var/lib/apt/lists/*
