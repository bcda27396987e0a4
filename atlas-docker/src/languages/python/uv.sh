# uv, in $ATLAS_ENV/bin: it resolves as of a day. It is one program for every Python, but its package is not offered
# to the older ones; so it is taken out of the package. Where it cannot be had there is pip.
set -uo pipefail
uv="$ATLAS_ENV/bin/uv"
[ ! -x "$uv" ] || exit 0
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
for python in "$ATLAS_ENV/venv/bin/python" python3; do
  # What pip compiles of itself is kept, for the next that runs it.
  if env -u PYTHONDONTWRITEBYTECODE "$python" -m pip download --quiet --no-deps --only-binary :all: --python-version 3.12 \
    --platform "manylinux2014_$(uname -m)" --dest "$work/uv" uv > "$work/uv.log" 2>&1; then
    python3 -m zipfile -e "$work"/uv/uv-*.whl "$work/uv" && mkdir -p "${uv%/*}" &&
      mv "$work"/uv/uv-*.data/scripts/uv "$uv" && chmod +x "$uv" && "$uv" --version && exit 0
  fi
done
tail -n 3 "$work/uv.log"
exit 0
