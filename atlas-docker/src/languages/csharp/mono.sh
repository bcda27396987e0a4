# .NET Framework's tests on Mono: compiles projects, then runs what they give in one console runner.
#   mono-test build PROJECT...             compiles each; fails where none compiles
#   mono-test nunit2 PROJECT...            compiles anew, then Debian's console runner of NUnit 2
#   mono-test nunit3 RUNNER PROJECT...     the same with the repository's console runner of NUnit 3
#   mono-test xunit RUNNER PROJECT...      the same with the repository's console runner of xUnit.net
set -o pipefail
cd "$ATLAS_REPO"
how=$1
shift
case $how in
  nunit3 | xunit)
    runner=$1
    shift
    ;;
esac
# Compilers do not warn of the same things.
options="/nologo /v:m /p:WarningLevel=0 /p:TreatWarningsAsErrors=false"
[ "$how" = build ] || options="$options /t:Rebuild"

# Each error is given the name of its project, as MSBuild does.
compile() {
  xbuild $options "$1" 2>&1 | PROJECT=$1 awk '
    / error [A-Z]+[0-9]+: / && !/\]$/ { print $0 " [" ENVIRON["PROJECT"] "]"; next }
    { print }'
}

assemblies=()
for project in "$@"; do
  if compile "$project"; then
    assembly=$(xbuild /nologo /v:m "/p:AtlasProject=$PWD/$project" "$ATLAS_ENV/toolbox/mono-target.proj" |
      sed -n 's/^.*atlas-target //p' | tail -n 1)
    if [ -f "$assembly" ]; then
      assemblies+=("$assembly")
    else
      echo "atlas: compiled to nothing: $project"
    fi
  else
    echo "atlas: does not compile: $project"
  fi
done
[ ${#assemblies[@]} -gt 0 ] || exit 1
case $how in
  nunit2) exec nunit-console -nologo -nodots -labels "-xml=$ATLAS_OUT/nunit.xml" "${assemblies[@]}" ;;
  nunit3) exec mono "$runner" --noheader --labels=All "--result=$ATLAS_OUT/nunit.xml" "${assemblies[@]}" ;;
  xunit)
    # Version 1 takes one assembly or a project of several, and for a switch whatever begins with a slash.
    if [[ $(mono "$runner" 2>&1) == *' /silent'* ]]; then
      {
        echo '<xunit><assemblies>'
        for at in "${!assemblies[@]}"; do
          echo "<assembly filename=\"$(realpath "${assemblies[at]}")\" shadow-copy=\"false\">"
          echo "<output type=\"xml\" filename=\"$ATLAS_OUT/xunit-$at.xml\"/></assembly>"
        done
        echo '</assemblies></xunit>'
      } > "$ATLAS_OUT/all.xunit"
      mono "$runner" "$ATLAS_OUT/all.xunit" /silent
    else
      mono "$runner" "${assemblies[@]}" -xml "$ATLAS_OUT/xunit-0.xml"
    fi
    code=$?
    cat "$ATLAS_OUT"/xunit-*.xml
    exit $code
    ;;
esac
