#!/bin/sh
# bundler where no gem registry can be reached: `install` makes a bundle of Debian's packages.
if [ "$1" = install ]; then
  mkdir -p "$ATLAS_ENV/bin"
  for tool in ruby gem rake rspec cucumber; do
    [ ! -x "/usr/bin/$tool" ] || ln -sf "/usr/bin/$tool" "$ATLAS_ENV/bin/$tool"
  done
  exec /usr/bin/ruby /opt/atlas/substitutes/bundle.rb @RUNNER@
fi
exec /usr/bin/bundle "$@"
