printf 'tool\tdotnet\t%s\n' "$(dotnet --version 2>/dev/null)"
# NuGet's folder of packages names each by its folders.
[ -d "$ATLAS_ENV/nuget" ] && (cd "$ATLAS_ENV/nuget" && find . -mindepth 2 -maxdepth 2 -type d) |
  awk -F/ '{print $2 "==" $3}' | LC_ALL=C sort -u | sed 's/^/dependency\t/'
exit 0
