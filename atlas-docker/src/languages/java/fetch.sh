# Fetches what a Maven project's tests need: compiles the sources and runs no test.
# [--manifests] (nothing is compiled where the manifests alone brought all), the Maven to take where a
# plugin needs a newer one, options of Maven, the phase.
set -eo pipefail
if [ "$1" = --manifests ]; then
  shift
  if [ -s "$ATLAS_ENV/fetched" ] && [ -z "${MAVEN_COMPILE_FIRST:-}" ]; then
    echo 'atlas: the manifests alone brought all that the sources are compiled with'
    exit 0
  fi
fi
newer=$1
shift
log=$(mktemp)
# What differs from what is asked for stands in the environment's lock and in the row.
note() {
  echo "atlas: $*"
  echo "$*" >> "$ATLAS_ENV/drift"
}

# Whatever fails, other modules go on. The pattern selects every class and no method: Surefire then
# fetches the provider of the test framework and starts it, and nothing is tested.
compile() {
  mvn "$1" -fn -Dtest='*#atlasNoSuchTest' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false \
    clean "${@:2}" | tee "$log"
}

whole() {
  ! grep -qE '^\[(ERROR|WARNING)\].*(offline|not resolve|not been downloaded)|BUILD FAILURE' "$log"
}

newer_maven() {
  echo "atlas: a plugin needs a newer Maven than the image has: $newer is fetched"
  (
    cd "$(mktemp -d)"
    mvn -B -ntp -U org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack \
      -Dartifact="org.apache.maven:apache-maven:$newer:tar.gz:bin" -DoutputDirectory="$ATLAS_ENV"
    ln -s "apache-maven-$newer" "$ATLAS_ENV/maven"
  ) || true
  hash -r
}

# The artifacts of the checkout itself: the first name of each POM that is not its parent's.
own() {
  find . -name pom.xml -not -path '*/target/*' | while IFS= read -r pom; do
    tr '\n' ' ' < "$pom" | sed -E 's/<parent>.*<\/parent>//' | grep -oE '<artifactId>[^<]+' | sed -n '1{s/.*>[[:space:]]*//;s/[[:space:]]*$//;p}' || true
  done
}

# A snapshot that no repository has any more is its release, where there is one: a parent's POM mostly. The checkout's
# own modules are built; their releases are from after it.
released() {
  local group name kind version place from found=1 modules
  modules=$(own)
  while IFS=: read -r group name kind version; do
    [[ $'\n'$modules$'\n' != *$'\n'"$name"$'\n'* ]] || continue
    place=$ATLAS_ENV/m2/${group//.//}/$name
    from=$place/$version/$name-$version
    [ ! -e "$place/$version-SNAPSHOT/$name-$version-SNAPSHOT.$kind" ] || continue
    (
      cd "$(mktemp -d)"
      mvn -B -ntp org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get \
        -Dartifact="$group:$name:$version:$kind" -Dtransitive=false
    ) > /dev/null 2>&1 || continue
    [ -s "$from.$kind" ] && [ -s "$from.pom" ] || continue
    mkdir -p "$place/$version-SNAPSHOT"
    [ "$kind" = pom ] || cp "$from.$kind" "$place/$version-SNAPSHOT/$name-$version-SNAPSHOT.$kind"
    # Its own version, which is not its parent's.
    awk -v version="<version>$version</version>" '
      /<parent>/ { inside = 1 }
      !inside && !done && (at = index($0, version)) {
        $0 = substr($0, 1, at - 1) "<version>" substr(version, 10, length(version) - 19) "-SNAPSHOT</version>" \
          substr($0, at + length(version))
        done = 1
      }
      /<\/parent>/ { inside = 0 }
      { print }' "$from.pom" > "$place/$version-SNAPSHOT/$name-$version-SNAPSHOT.pom"
    note "$group:$name:$version stands in for its snapshot, which no repository has"
    found=0
  done < <(grep -oE '[A-Za-z0-9._-]+:[A-Za-z0-9._-]+:(pom|jar):[A-Za-z0-9._-]+-SNAPSHOT' "$log" | sed 's/-SNAPSHOT$//' | sort -u)
  return $found
}

# Again, up to three times, where the network failed: one artifact that did not come leaves modules
# without what they need, and what did come is kept.
if ! { [ -e "$ATLAS_ENV/fetched" ] && compile -o "$@" && whole; }; then
  for wait in 5 20 60 0; do
    compile -U "$@"
    if grep -q 'BUILD SUCCESS' "$log"; then
      break
    elif grep -qE 'requires Maven version|Internal error: com\.google\.inject' "$log" && [ ! -e "$ATLAS_ENV/maven" ]; then
      # A plugin says so, or one that extends Maven (Tycho) does not find its parts in this one.
      newer_maven
    elif grep -q 'BUILD FAILURE\|could not read\|on-resolvable' "$log" && released; then
      continue
    elif grep -qE 'BUILD FAILURE|could not read' "$log" && ! grep -q 'Could not transfer' "$log"; then
      break
    else
      sleep "$wait"
    fi
  done
fi
if [ -n "${ATLAS_WARM:-}" ]; then
  if grep -q 'BUILD SUCCESS' "$log" && ! grep -q '^\[ERROR\]' "$log"; then
    echo whole > "$ATLAS_ENV/fetched"
  else
    touch "$ATLAS_ENV/fetched"
  fi
fi
# The classes tell whether there is anything to test.
if [ -z "$(find . -name '*.class' -path '*/*classes/*' -print -quit)" ]; then
  echo 'atlas: no module of the reactor was compiled' >&2
  exit 1
fi
