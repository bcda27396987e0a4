# Packages of NuGet that packages.config names, each in its folder ID.VERSION, as `nuget restore` lays them.
#   nuget-restore FOLDER... FILE.dll...
# A file is one of theirs that a project refers to: where nothing could be fetched and an engine gave substitutes,
# the substitute of that name is laid there.
cd "$ATLAS_REPO"
missing=0
for wanted in "$@"; do
  [ -e "$wanted" ] && continue
  case $wanted in
    *.dll)
      name=${wanted##*/}
      if [ -f "/opt/atlas/substitutes/nuget/$name" ]; then
        mkdir -p "${wanted%/*}"
        cp "/opt/atlas/substitutes/nuget/$name" "$wanted"
      else
        echo "atlas: not there: $wanted"
        missing=1
      fi
      ;;
    *)
      folder=${wanted##*/}
      id=$(sed -E 's/\.[0-9]+(\.[0-9]+)*([-+].*)?$//' <<< "$folder")
      version=${folder#"$id".}
      if curl -sSfL --retry 2 -o /tmp/package.zip "https://www.nuget.org/api/v2/package/$id/$version"; then
        mkdir -p "$wanted" && unzip -q -o /tmp/package.zip -d "$wanted" && chmod -R u+rwX "$wanted"
        rm -f /tmp/package.zip
      else
        echo "atlas: not fetched from NuGet: $id $version"
      fi
      ;;
  esac
done
exit $missing
