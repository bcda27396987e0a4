# The user that builds and tests. Some images have one of their own with id 1000.
set -eo pipefail
old="$(getent passwd 1000 | cut -d: -f1 || true)"
[ -z "$old" ] || userdel "$old"
old="$(getent group 1000 | cut -d: -f1 || true)"
[ -z "$old" ] || groupdel "$old"
groupadd --gid 1000 atlas
useradd --uid 1000 --gid 1000 --create-home --home-dir /home/atlas --shell /bin/bash atlas
install -d -o atlas -g atlas /testbed /opt/atlas /opt/atlas/env /opt/atlas/cache
