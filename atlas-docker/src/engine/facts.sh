# Prints what an environment is made of, one fact a line: tool or dependency, a tab, the rest.
tool() {
    command -v "$1" >/dev/null 2>&1 || return 0
    printf 'tool\t%s\t%s\n' "$1" "$("$@" 2>&1 </dev/null | head -n 1)"
}
tool bash --version
tool git --version
tool gcc --version
tool make --version
case "$1" in
python)
    python=python3
    [ -x "$ATLAS_ENV/bin/python" ] && python="$ATLAS_ENV/bin/python"
    tool "$python" --version
    "$python" - <<'PY' 2>/dev/null
import importlib.metadata as metadata
for found in metadata.distributions():
    name = found.metadata["Name"]
    if name:
        print("dependency\t%s==%s" % (name, found.version))
PY
    ;;
javascript | typescript | node)
    tool node --version
    tool npm --version
    tool yarn --version
    tool pnpm --version
    node - <<'JS' 2>/dev/null
const fs = require('fs');
for (const root of [process.env.ATLAS_REPO, process.env.ATLAS_ENV]) {
    let lock;
    try {
        lock = JSON.parse(fs.readFileSync(root + '/node_modules/.package-lock.json', 'utf8'));
    } catch {
        continue;
    }
    for (const [path, entry] of Object.entries(lock.packages || {})) {
        const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
        if (entry.version) console.log('dependency\t' + name + '==' + entry.version);
    }
}
JS
    ;;
go)
    tool go version
    # Without a network `go list` fails where an unneeded module was never fetched.
    found=$(go list -m -f '{{if .Version}}dependency	{{.Path}}=={{.Version}}{{end}}' all 2>/dev/null)
    if [ -n "$found" ]; then
        printf '%s\n' "$found"
    elif [ -f go.sum ]; then
        sed -n '/\/go\.mod h1:/!s/^\([^ ]*\) \([^ ]*\) h1:.*/dependency\t\1==\2/p' go.sum
    fi
    ;;
rust)
    tool rustc --version
    tool cargo --version
    [ -f Cargo.lock ] && sed -n \
        '/^name = /{s/^name = "\(.*\)"/\1/;h;};/^version = /{s/^version = "\(.*\)"/\1/;H;x;s/\n/==/;s/^/dependency\t/p;}' \
        Cargo.lock
    ;;
esac
exit 0
