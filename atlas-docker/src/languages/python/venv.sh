# Python's virtual environment, in $ATLAS_ENV/venv. What ensurepip would install is unpacked: an installation compiles
# every file of pip first, which takes seconds. Where the wheels are not found, ensurepip runs.
set -uo pipefail
venv="$ATLAS_ENV/venv"
[ ! -x "$venv/bin/python" ] || exit 0
unpack='
import ensurepip, os, sysconfig, zipfile
names = [project[0] for project in getattr(ensurepip, "_PROJECTS", [("pip",)])]
folders = [os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"), getattr(ensurepip, "_WHEEL_PKG_DIR", None)]
files = [os.path.join(folder, file) for folder in folders if folder and os.path.isdir(folder)
         for file in sorted(os.listdir(folder)) if file.endswith(".whl")]
for name in names:
    wheel = zipfile.ZipFile(next(file for file in files if os.path.basename(file).startswith(name + "-")))
    if any(".data/" in entry for entry in wheel.namelist()):
        raise SystemExit(name + " has more than modules")
    wheel.extractall(sysconfig.get_path("purelib"))
'
if python3 -m venv --without-pip "$venv" && "$venv/bin/python" -c "$unpack"; then
  for name in pip pip3; do
    printf '#!/bin/sh\nexec "%s" -m pip "$@"\n' "$venv/bin/python" > "$venv/bin/$name" && chmod +x "$venv/bin/$name"
  done
else
  rm -rf "$venv"
  python3 -m venv "$venv"
fi
