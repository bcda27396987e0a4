# Makes a module of code from before modules: $1 is its import path, $2 perhaps a day. Versions come
# from the lockfile of the tool that was used then; what no lockfile names is taken as of the day.
# Nothing here fails the build: packages that lack something are for the tests to tell.
export GOFLAGS=-modcacherw
[ ! -f go.mod ] || exit 0
go mod init "$1" || exit 0
perl -0777 -ne '
  if ($ARGV =~ /\.json$/) {
    while (/\{[^{}]*\}/g) {
      my $entry = $&;
      my ($path) = $entry =~ /"(?:path|ImportPath)":\s*"([^"]+)"/;
      my ($revision) = $entry =~ /"(?:revision|Rev)":\s*"([^"]+)"/;
      print "$path $revision\n" if $path && $revision;
    }
  } elsif ($ARGV =~ /\.lock$/) {
    while (/^\s*(?:- )?name\s*[:=]\s*"?([^"\s]+)"?\s*$(.*?)(?=^\s*(?:- )?name\s*[:=]|\z)/msg) {
      my ($path, $rest) = ($1, $2);
      print "$path $1\n" if $rest =~ /^\s*(?:revision\s*=\s*"|version:\s*)([0-9a-f]{12,40})/m;
    }
  }' Gopkg.lock glide.lock vendor/vendor.json Godeps/Godeps.json vendor/manifest 2> /dev/null |
while read -r path revision; do
  go get "$path@$revision" < /dev/null > /dev/null 2>&1 || echo "atlas: not fetched: $path@$revision"
done
go mod tidy -e || go mod tidy || echo 'atlas: not every import was found'
[ -n "${2:-}" ] || exit 0
go list -m -f '{{if and (not .Main) .Time}}{{.Path}} {{.Version}} {{.Time.Format "2006-01-02"}}{{end}}' all 2> /dev/null |
while read -r path version born; do
  [ -n "$born" ] && [[ "$born" > "$2" ]] && grep -qF "$path $version" go.mod || continue
  found=""
  for other in $(go list -m -versions -f '{{range .Versions}}{{.}} {{end}}' "$path" 2> /dev/null | tr ' ' '\n' | grep -v -- - | tac | head -n 60); do
    born="$(go list -m -f '{{if .Time}}{{.Time.Format "2006-01-02"}}{{end}}' "$path@$other" 2> /dev/null)"
    if [ -n "$born" ] && [[ ! "$born" > "$2" ]]; then found="$other"; break; fi
  done
  if [ -n "$found" ]; then go mod edit -require="$path@$found"; else echo "atlas: younger than $2: $path $version"; fi
done
go mod tidy -e || go mod tidy || echo 'atlas: not every import was found'
exit 0
