# Prints what an environment holds that may be from after the base commit, one fact a line:
#   git<TAB>folder<TAB>what            an object, a reference or a log that the base does not reach
#   tag<TAB>name                       a tag that the base reaches
#   package<TAB>kind<TAB>name<TAB>version<TAB>place   a copy of a package in a cache or a library
#   scanned<TAB>folder                 a git repository that was looked through
#   done
# ${roots[@]} are the folders to look through, $ATLAS_BASE is the base commit, $ATLAS_NAMES the names of the repository's own packages, one a line.
set +e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 LC_ALL=C
work="$(mktemp -d)"
most=20

# Folders that git would take for a repository, wherever they lie.
find "${roots[@]}" -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$work" \) -prune -o \
  -type f -name HEAD -print 2> /dev/null |
while IFS= read -r head; do
  folder="${head%/HEAD}"
  [ -d "$folder/objects" ] && { [ -d "$folder/refs" ] || [ -f "$folder/packed-refs" ]; } && printf '%s\n' "$folder"
done > "$work/folders"

main="$(git -c safe.directory='*' -C "$ATLAS_REPO" rev-parse --absolute-git-dir 2> /dev/null)"
while IFS= read -r folder; do
  g() { git -c safe.directory='*' --git-dir="$folder" "$@"; }
  top="$ATLAS_BASE"
  if ! g cat-file -e "$ATLAS_BASE^{commit}" 2> /dev/null; then
    # Another project. A submodule holds its own commit and what that reaches.
    case "$folder" in "$main"/modules/*) top=HEAD ;; *) continue ;; esac
  fi
  printf 'scanned\t%s\n' "$folder"
  say() { printf 'git\t%s\t%s\n' "$folder" "$1"; }
  date="$(g log -1 --format=%ct "$top" 2> /dev/null)"
  g rev-list --missing=allow-any --objects "$top" 2> "$work/why" | cut -d' ' -f1 > "$work/reached" ||
    say "what $top reaches cannot be listed: $(head -n 1 "$work/why")"
  # A tag's own object is fine if it is not younger than the commit.
  g for-each-ref --format='%(objecttype) %(objectname) %(taggerdate:unix) %(*objectname) %(refname:short)' refs/tags |
  while read -r type object seconds target name; do
    [ "$type" = tag ] && [ "${seconds:-0}" -le "${date:-0}" ] && printf '%s\n' "$object"
  done >> "$work/reached"
  sort -u -o "$work/reached" "$work/reached"
  g cat-file --batch-all-objects --unordered --batch-check='%(objectname) %(objecttype)' | sort -u > "$work/objects"
  cut -d' ' -f1 "$work/objects" | comm -23 - "$work/reached" > "$work/beyond"
  head -n "$most" "$work/beyond" | while IFS= read -r object; do
    say "$(g cat-file -t "$object") $object"
  done
  more="$(($(wc -l < "$work/beyond") - most))"
  [ "$more" -gt 0 ] && say "$more more objects"
  # References and logs may name what is not there any more.
  {
    g for-each-ref --format='%(objectname) %(refname)' 2> /dev/null
    grep -v '^[#^]' "$folder/packed-refs" 2> /dev/null
    find "$folder" -path "$folder/modules" -prune -o -type f \( -path "$folder/refs/*" -o -name '*HEAD' \) -print 2> /dev/null |
    while IFS= read -r file; do
      grep -aoE '\b[0-9a-f]{40,64}\b' "$file" | sed "s|\$| ${file#"$folder"/}|"
    done
    find "$folder/logs" -type f 2> /dev/null | while IFS= read -r file; do
      grep -aoE '^[0-9a-f]{40,64} [0-9a-f]{40,64}' "$file" | tr ' ' '\n' | sed "s|\$| ${file#"$folder"/}|"
    done
  } | grep -v '^00* ' | sort -u > "$work/named"
  join -v 1 "$work/named" "$work/reached" | head -n "$most" | while read -r object name; do
    say "$name names $object"
  done
  [ -s "$folder/objects/info/alternates" ] && say "objects/info/alternates names $(head -n 1 "$folder/objects/info/alternates")"
  [ "$folder" = "$main" ] && g tag --merged "$ATLAS_BASE" 2> /dev/null | sed 's/^/tag\t/'
done < "$work/folders"
[ -n "$main" ] || printf 'scanned\t\n'

# Copies of the repository's own packages that came from a registry.
found() { printf 'package\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"; }
lower() { printf '%s' "$1" | tr 'A-Z' 'a-z' | sed 's/[-_.][-_.]*/-/g'; }
find "${roots[@]}" -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$work" \) -prune -o \
  \( -type d \( -name '*.dist-info' -o -name '*.egg-info' \) -o -path '*/node_modules/*' -name package.json \
     -o -name '*.crate' -o -path '*/cache/download/*/@v/*.zip' -o -path '*/gems/*' -name '*.gem' \
     -o -path '*/specifications/*.gemspec' -o -path '*/vendor/composer/installed.json' \
     -o -path '*/.m2/repository/*' -name '*.pom' -o -path '*/.nuget/packages/*' -name '*.nupkg' \
     -o -name '*.whl' -o -path '*/_cacache/index-v5/*' -type f \) -print 2> /dev/null > "$work/packages"
printf '%s\n' "$ATLAS_NAMES" | while IFS= read -r name; do
  [ -n "$name" ] || continue
  plain="$(lower "$name")"
  short="${name##*/}"
  # A name is data here, never a pattern.
  escaped="$(printf '%s' "$name" | sed 's/[A-Z]/!&/g' | tr 'A-Z' 'a-z')"
  grep -iF -e "$short" -e "${plain//-/_}" -e "$plain" -e "$escaped" -e _cacache/ -e composer/installed.json "$work/packages" |
  while IFS= read -r path; do
    file="${path##*/}"
    case "$path" in
      *.dist-info | *.egg-info)
        # What was installed from a folder says so; what lies in the repository is the repository's.
        case "$path" in "$ATLAS_REPO"/*.egg-info) continue ;; esac
        grep -qs '"file://' "$path/direct_url.json" && continue
        of="$(sed -n 's/^Name: *//p;/^$/q' "$path/METADATA" "$path/PKG-INFO" 2> /dev/null | head -n 1)"
        [ "$(lower "$of")" = "$plain" ] &&
          found python "$name" "$(sed -n 's/^Version: *//p;/^$/q' "$path/METADATA" "$path/PKG-INFO" 2> /dev/null | head -n 1)" "$path" ;;
      *.whl)
        case "$path" in "$ATLAS_REPO"/*) continue ;; esac
        of="${file%%-*}"; rest="${file#*-}"
        [ "$(lower "$of")" = "$plain" ] && found python "$name" "${rest%%-*}" "$path" ;;
      */node_modules/"$name"/package.json)
        # A link to the repository's own folder is the repository.
        real="$(readlink -f "${path%/package.json}")"
        case "$real" in */node_modules/*) ;; *) continue ;; esac
        found npm "$name" "$(sed -n 's/^[[:space:]]*"version"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p' "$path" | head -n 1)" "$path" ;;
      */_cacache/index-v5/*)
        grep -aoF -e "/$name/-/" "$path" > /dev/null 2>&1 &&
          grep -ao -e '/-/[^"]*\.tgz' "$path" | sed 's/^...//;s/\.tgz$//' | sort -u | while IFS= read -r one; do
            case "$one" in "$short"-*) found npm "$name" "${one#"$short"-}" "$path" ;; esac
          done ;;
      *.crate)
        rest="${file%.crate}"
        case "$rest" in "$name"-[0-9]*) found cargo "$name" "${rest#"$name"-}" "$path" ;; esac ;;
      */cache/download/"$escaped"/@v/*.zip) found go "$name" "${file%.zip}" "$path" ;;
      *.gem | */specifications/*.gemspec)
        rest="${file%.gem}"; rest="${rest%.gemspec}"
        case "$rest" in "$name"-[0-9]*) found gem "$name" "${rest#"$name"-}" "$path" ;; esac ;;
      */vendor/composer/installed.json)
        tr -d ' \n' < "$path" | grep -oF -e "\"name\":\"$name\",\"version\":\"" > /dev/null &&
          found composer "$name" "$(tr -d ' \n' < "$path" | sed "s|.*\"name\":\"$name\",\"version\":\"||;s|\".*||")" "$path" ;;
      *.pom)
        folder="${path%/*}"; version="${folder##*/}"; above="${folder%/*}"
        group="${above%/*}"; group="$(printf '%s' "${group#*/.m2/repository/}" | tr / .)"
        # `mvn install` leaves no note of a remote repository.
        [ "$group:${above##*/}" = "$name" ] && [ -f "$folder/_remote.repositories" ] &&
          grep -qF ".pom>" "$folder/_remote.repositories" && ! grep -qF "$file>=" "$folder/_remote.repositories" &&
          found maven "$name" "$version" "$path" ;;
      *.nupkg)
        folder="${path%/*}"; above="${folder%/*}"
        [ "$(lower "${above##*/}")" = "$plain" ] && found nuget "$name" "${folder##*/}" "$path" ;;
    esac
  done
done
rm -rf "$work"
echo done
exit 0
