printf 'tool\tjava\t%s\n' "$(java -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/\1/p' | head -n 1)"
command -v mvn > /dev/null && printf 'tool\tmvn\t%s\n' "$(mvn -version 2>/dev/null | sed -n 's/.*Apache Maven \([^ ]*\).*/\1/p')"
[ -x "$ATLAS_ENV/gradle" ] && printf 'tool\tgradle\t%s\n' "$("$ATLAS_ENV/gradle" --offline --version 2>/dev/null | sed -n 's/^Gradle //p')"
command -v ant > /dev/null && printf 'tool\tant\t%s\n' "$(ant -version 2>/dev/null | sed -n 's/.*version \([^ ]*\) .*/\1/p')"
# A repository of Maven names group, artifact and version by its folders; Gradle's cache likewise.
{
  [ -d "$ATLAS_ENV/m2" ] && (cd "$ATLAS_ENV/m2" && find . -name '*.jar') |
    awk -F/ 'NF >= 5 {group = $2; for (i = 3; i <= NF - 3; i++) group = group "." $i; print group ":" $(NF-2) ":" $(NF-1)}'
  [ -d "$ATLAS_CACHE/gradle/caches/modules-2/files-2.1" ] && (cd "$ATLAS_CACHE/gradle/caches/modules-2/files-2.1" && find . -name '*.jar') |
    awk -F/ 'NF >= 6 {print $2 ":" $3 ":" $4}'
  [ -d "$ATLAS_ENV/ivy" ] && (cd "$ATLAS_ENV/ivy" && find . -name '*.jar' -printf '%f\n')
} | LC_ALL=C sort -u | sed 's/^/dependency\t/'
exit 0
