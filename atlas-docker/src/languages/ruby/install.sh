spare=@WITHOUT@
# What was installed from the manifests alone needs no other look at the index.
if [ -e "$ATLAS_ENV/installed" ] && [ -z "${ATLAS_WARM:-}" ] && bundle install --local; then
  :
elif bundle install --jobs 4 --retry 3; then
  [ -z "${ATLAS_WARM:-}" ] || touch "$ATLAS_ENV/installed"
elif BUNDLE_WITHOUT="$spare" bundle install --jobs 4 --retry 3; then
  echo "atlas: gems of these groups are left out: $spare"
  mkdir -p "$BUNDLE_APP_CONFIG" && printf -- '---\nBUNDLE_WITHOUT: "%s"\n' "$spare" > "$BUNDLE_APP_CONFIG/config"
else
  exit 1
fi
