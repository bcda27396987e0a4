# What a compiler made of the same text before is taken again when the image is built; what a test run compiles
# is compiled. The preprocessor always runs, for a new header may stand before an old one of its name. Modules
# are compiled each time: one lies beside its object, and what imports it does not show its text.
set -eo pipefail
install -d -o atlas -g atlas /opt/atlas/objects /opt/atlas/compilers
command -v ccache > /dev/null || exit 0
cat > /opt/atlas/compilers/compiler <<'END'
#!/bin/sh
case " $* " in *" -fmodule"*) export CCACHE_DISABLE=1 ;; esac
exec ccache "${0##*/}" "$@"
END
chmod +x /opt/atlas/compilers/compiler
for name in $(compgen -c | grep -Ex '(cc|c[+][+]|gcc|g[+][+]|clang|clang[+][+])(-[0-9.]+)?' | sort -u); do
  ln -s compiler "/opt/atlas/compilers/$name"
done
