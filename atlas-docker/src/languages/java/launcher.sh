# Writes "$ATLAS_ENV/gradle", which starts the wrapper's Gradle: the image's where it is the same, else
# the wrapper, else whichever Gradle the image has.
# $1: the folder of the wrapper, from the repository's root; nothing where there is none.
set -eo pipefail
start='exec gradle "$@"'
if [ $# -gt 0 ]; then
  wrapper="$ATLAS_REPO/${1}gradlew"
  wanted="$(sed -n 's/^distributionUrl.*gradle-\([0-9][^-]*\)-.*/\1/p' "${1}gradle/wrapper/gradle-wrapper.properties" || true)"
  had="$(gradle --version 2> /dev/null | sed -n 's/^Gradle //p' || true)"
  if [ -n "$had" ] && [ "$wanted" = "$had" ]; then
    :
  elif bash "$wrapper" --version >&2; then
    start="exec bash \"\$ATLAS_REPO/${1}gradlew\" \"\$@\""
  else
    echo "atlas: the wrapper's Gradle $wanted cannot be had, the image's is taken: $had" >&2
  fi
fi
printf '%s\n' '#!/bin/bash' "$start" > "$ATLAS_ENV/gradle"
chmod +x "$ATLAS_ENV/gradle"
