command -v dotnet > /dev/null && printf 'tool\tdotnet\t%s\n' "$(dotnet --version 2>/dev/null)"
command -v mono > /dev/null && printf 'tool\tmono\t%s\n' "$(mono --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')"
command -v nunit-console > /dev/null && printf 'tool\tnunit-console\t%s\n' "$(dpkg-query -W -f '${Version}' nunit-console 2>/dev/null)"
# NuGet's folder of packages names each by its folders.
[ -d "$ATLAS_ENV/nuget" ] && (cd "$ATLAS_ENV/nuget" && find . -mindepth 2 -maxdepth 2 -type d) |
  awk -F/ '{print $2 "==" $3}' | LC_ALL=C sort -u | sed 's/^/dependency\t/'
exit 0
