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
if ! command -v git > /dev/null; then
  printf 'git\t%s\tgit is not here: nothing can be said of its history\nscanned\t\ndone\n' "$ATLAS_REPO"
  exit 0
fi

# One walk for both questions: folders that git would take for a repository, and whatever a registry's
# copy of a package may be known by.
find "${roots[@]}" -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$work" \) -prune -o \
  \( -type f -name HEAD -fprint "$work/heads" \) , \
  \( -type d -name '*.dist-info' -o -name '*.egg-info' -o -path '*.egg/EGG-INFO' -o -path '*/node_modules/*' -name package.json \
     -o -name '*.crate' -o -path '*/cache/download/*/@v/*.zip' -o -path '*/gems/*' -name '*.gem' \
     -o -path '*/specifications/*.gemspec' -o -path '*/vendor/composer/installed.json' \
     -o -name _remote.repositories -o -path '*/modules-2/files-2.1/*' -name '*.jar' -o -name '*.nupkg' \
     -o -path '*/yarn/*/cache/*' -name '*.zip' -o -path '*/yarn/cache/*' -name '*.zip' \
     -o -name '*.whl' -o -path '*/_cacache/index-v5/*' -type f \) -fprint "$work/packages" 2> /dev/null
while IFS= read -r head; do
  folder="${head%/HEAD}"
  [ -d "$folder/objects" ] && { [ -d "$folder/refs" ] || [ -f "$folder/packed-refs" ]; } && printf '%s\n' "$folder"
done < "$work/heads" > "$work/folders"

# Words that git learned late are used where it knows them.
g() { git -c safe.directory='*' --git-dir="$folder" "$@"; }
folder="$(cd "$ATLAS_REPO" && cd "$(git -c safe.directory='*' rev-parse --git-dir 2> /dev/null || echo /nowhere)" 2> /dev/null && pwd -P)"
main="$folder"
missing=--missing=allow-any
[ -z "$main" ] || g rev-list "$missing" --max-count=1 "$ATLAS_BASE" > /dev/null 2>&1 || missing=
reach() { g rev-list $missing --objects "$1" 2> "$work/why" > "$work/listed" && cut -d' ' -f1 "$work/listed"; }
all_objects() {
  g cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' 2> /dev/null && return
  {
    (cd "$folder/objects" && find . -type f -path './[0-9a-f][0-9a-f]/*' | tr -d './')
    find "$folder/objects/pack" -name '*.idx' -exec sh -c 'git show-index < "$1"' sh {} \; 2> /dev/null | cut -d' ' -f2
  } | g cat-file --batch-check='%(objectname) %(objecttype)'
}
[ -z "$main" ] || reach "$ATLAS_BASE" | sort -u > "$work/base"
# Whether most files of a clone's tip are files of the base: then it is a clone of this project that
# does not go back to the base.
is_this_project() {
  g ls-tree -r HEAD 2> /dev/null | awk '$2 == "blob" { print $3 }' | sort -u > "$work/tip"
  all="$(wc -l < "$work/tip")"
  same="$(comm -12 "$work/tip" "$work/base" 2> /dev/null | wc -l)"
  [ "$same" -ge 3 ] && [ $((same * 2)) -ge "$all" ]
}
# Whether all objects of a repository are files that the base commit holds, as fixtures of tests are:
# then it tells nothing that the base does not.
is_of_base() {
  inside="${folder#"$(cd "$ATLAS_REPO" && pwd -P)"/}"
  [ "$inside" != "$folder" ] && [ -n "$main" ] || return 1
  (
    cd "$ATLAS_REPO" && find "$inside/objects" -type f | sort > "$work/files" && [ -s "$work/files" ] &&
      git --git-dir="$main" hash-object --no-filters --stdin-paths < "$work/files" | paste - "$work/files" | sort > "$work/held"
    git -c safe.directory='*' -c core.quotePath=false --git-dir="$main" ls-tree -r "$ATLAS_BASE" -- "$inside/objects" |
      cut -d' ' -f3- | sort > "$work/of_base"
    [ -s "$work/held" ] && [ -z "$(comm -23 "$work/held" "$work/of_base")" ]
  )
}
while IFS= read -r folder; do
  say() { printf 'git\t%s\t%s\n' "$folder" "$1"; }
  top="$ATLAS_BASE"
  if ! g cat-file -e "$ATLAS_BASE^{commit}" 2> /dev/null; then
    # A submodule holds its own commit and what that reaches; else it is another project.
    case "$folder" in
      "$main"/modules/*) top=HEAD ;;
      *)
        ! is_this_project || is_of_base || say "a clone of this project that does not hold its base commit"
        continue ;;
    esac
  fi
  printf 'scanned\t%s\n' "$folder"
  date="$(g log -1 --format=%ct "$top" 2> /dev/null)"
  if [ "$folder" = "$main" ] && [ -s "$work/base" ]; then
    cp "$work/base" "$work/reached"
  else
    reach "$top" > "$work/reached" ||
      say "what $top reaches cannot be listed: $(head -n 1 "$work/why")"
  fi
  # A tag's own object is fine if it is not younger than the commit.
  g for-each-ref --format='%(objecttype) %(objectname) %(taggerdate:unix) %(*objectname) %(refname:short)' refs/tags |
  while read -r type object seconds target name; do
    [ "$type" = tag ] && [ "${seconds:-0}" -le "${date:-0}" ] && printf '%s\n' "$object"
  done >> "$work/reached"
  sort -u -o "$work/reached" "$work/reached"
  all_objects | sort -u > "$work/objects"
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
[ -n "$main" ] || [ -e "$ATLAS_REPO/.git" ] || printf 'scanned\t\n'

# Copies of the repository's own packages that came from a registry.
found() { printf 'package\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4"; }
lower() { printf '%s' "$1" | tr 'A-Z' 'a-z' | sed 's/[-_.][-_.]*/-/g'; }
printf '%s\n' "$ATLAS_NAMES" | while IFS= read -r name; do
  [ -n "$name" ] || continue
  plain="$(lower "$name")"
  short="${name##*/}"
  # A name is data here, never a pattern.
  escaped="$(printf '%s' "$name" | sed 's/[A-Z]/!&/g' | tr 'A-Z' 'a-z')"
  # Maven's names are paths: the artifact is the last part.
  artifact="${short##*:}"
  grep -iF -e "$short" -e "$artifact" -e "${plain//-/_}" -e "$plain" -e "$escaped" -e _cacache/ -e composer/installed.json "$work/packages" |
  while IFS= read -r path; do
    file="${path##*/}"
    case "$path" in
      *.dist-info | *.egg-info | *.egg/EGG-INFO)
        # What was installed from a folder says so; what lies in the repository is the repository's.
        case "$path" in "$ATLAS_REPO"/*.egg-info) continue ;; esac
        grep -qs '"file://' "$path/direct_url.json" && continue
        # Distutils writes a file, all others a folder.
        facts="$path"
        [ ! -d "$path" ] || for facts in "$path/METADATA" "$path/PKG-INFO"; do [ ! -f "$facts" ] || break; done
        of="$(sed -n 's/^Name: *//p;/^$/q' "$facts" 2> /dev/null | head -n 1)"
        [ "$(lower "$of")" = "$plain" ] &&
          found python "$name" "$(sed -n 's/^Version: *//p;/^$/q' "$facts" 2> /dev/null | head -n 1)" "$path" ;;
      *.whl)
        case "$path" in "$ATLAS_REPO"/*) continue ;; esac
        of="${file%%-*}"; rest="${file#*-}"
        [ "$(lower "$of")" = "$plain" ] && found python "$name" "${rest%%-*}" "$path" ;;
      */node_modules/"$name"/package.json)
        # A link to the repository's own folder is the repository.
        real="$(readlink -f "${path%/package.json}")"
        case "$real" in */node_modules/*) ;; *) continue ;; esac
        found npm "$name" "$(grep -ao '"version"[[:space:]]*:[[:space:]]*"[^"]*"' "$path" | head -n 1 | sed 's/.*"\([^"]*\)"$/\1/')" "$path" ;;
      */yarn/*.zip)
        # `@scope/name` is written `@scope-name-npm-1.2.3-hash.zip`.
        rest="${file#"${name//\//-}"-npm-}"
        case "$file" in "${name//\//-}"-npm-[0-9]*) found npm "$name" "${rest%-*-*}" "$path" ;; esac ;;
      */_cacache/index-v5/*)
        grep -aoF -e "/$name/-/" "$path" > /dev/null 2>&1 &&
          grep -ao -e '/-/[^"]*\.tgz' "$path" | sed 's/^...//;s/\.tgz$//' | sort -u | while IFS= read -r one; do
            case "$one" in "$short"-*) found npm "$name" "${one#"$short"-}" "$path" ;; esac
          done ;;
      *.crate)
        rest="${file%.crate}"
        case "$rest" in "$name"-[0-9]*) found cargo "$name" "${rest#"$name"-}" "$path" ;; esac ;;
      */cache/download/"${escaped%/v[0-9]*}"/@v/*.zip | */cache/download/"${escaped%/v[0-9]*}"/v[0-9]*/@v/*.zip)
        found go "$name" "${file%.zip}" "$path" ;;
      *.gem | */specifications/*.gemspec)
        rest="${file%.gem}"; rest="${rest%.gemspec}"
        case "$rest" in "$name"-[0-9]*) found gem "$name" "${rest#"$name"-}" "$path" ;; esac ;;
      */vendor/composer/installed.json)
        tr -d ' \n' < "$path" | grep -oF -e "\"name\":\"$name\",\"version\":\"" > /dev/null &&
          found composer "$name" "$(tr -d ' \n' < "$path" | sed "s|.*\"name\":\"$name\",\"version\":\"||;s|\".*||")" "$path" ;;
      */_remote.repositories)
        # `mvn install` leaves no note of a remote repository.
        folder="${path%/*}"; version="${folder##*/}"; above="${folder%/*}"; group="${name%%:*}"
        case "$above" in
          */"${group//.//}/$artifact")
            grep -qE '\.(jar|war|aar)>.+=' "$path" && found maven "$name" "$version" "$folder" ;;
        esac ;;
      */modules-2/files-2.1/*.jar)
        rest="${path##*/modules-2/files-2.1/}"; group="${rest%%/*}"; rest="${rest#*/}"
        version="${rest#*/}"
        [ "$group:${rest%%/*}" = "$name" ] && found maven "$name" "${version%%/*}" "$path" ;;
      *.nupkg)
        folder="${path%/*}"; above="${folder%/*}"
        [ "$(lower "${above##*/}")" = "$plain" ] && found nuget "$name" "${folder##*/}" "$path" ;;
    esac
  done
done
rm -rf "$work"
echo done
exit 0
