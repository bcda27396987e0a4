# Writes a Cargo.lock as cargo would have on a day, given as yyyy-mm-dd, where there is none.
# Nothing here fails the build: what cannot be frozen is resolved to what the registry has now.
# A list of `name version` lines in $ATLAS_ENV/resolved.lock goes before the day.
[ ! -f Cargo.lock ] || exit 0
until="$1T23:59:59Z"
if [ ! -f "$ATLAS_ENV/resolved.lock" ] &&
  cargo generate-lockfile --help 2> /dev/null | grep -q -- --publish-time; then
  # The option is not stable yet; the variable is for this one command and no build sees it.
  if RUSTC_BOOTSTRAP=1 cargo generate-lockfile -Z unstable-options --publish-time "$until"; then
    exit 0
  fi
  echo "atlas: dependencies cannot be resolved as of $1"
fi
cargo generate-lockfile || exit 0
# What is too young goes back to the newest release of the day that is compatible with it. The
# registry's index, which cargo keeps, says when each was published.
lock="$(mktemp)" errors="$(mktemp)" stuck="" single=""
trap 'rm -f "$lock" "$errors"' EXIT
# All at once: packages get the wished versions in a list that names no edges any more, and cargo
# keeps what it can of it in one resolution. A wish that it cannot keep is given up. The index is here
# already, but for packages that only older releases need.
at_once() {
  local wishes turn refused
  wishes="$(grep -vE "^(${stuck:-:}):" <<< "$commands")" || return 1
  for turn in $(seq 60); do
    cp "$lock" Cargo.lock
    wishes="$wishes" perl -e '
      my %to; for (split /\n/, $ENV{wishes}) { $to{$1}{$2} = $3 if /^([^:\s]+):(\S+) (\S+)$/ }
      local $/; open my $lock, "<", "Cargo.lock" or exit 1;
      my @parts = split /^(?=\[)/m, <$lock>;
      for (@parts) {
        next unless /^\[\[package\]\]\nname = "(.+)"\nversion = "(.+)"\n/;
        my $other = $to{$1}{$2};
        s/^dependencies = \[\n(?: .*\n)*\]\n//m;
        next unless $other;
        s/^version = .*/version = "$other"/m; s/^checksum = .*\n//m;
      }
      open $lock, ">", "Cargo.lock" or exit 1; print $lock join "", @parts;' || return 1
    if cargo update --workspace --offline > "$errors" 2>&1 ||
      { ! grep -q 'failed to select a version for' "$errors" && cargo update --workspace > "$errors" 2>&1; }; then
      ! cmp -s Cargo.lock "$lock"
      return
    fi
    refused="$(sed -nE 's/.*failed to select a version for (the requirement )?`([A-Za-z0-9_-]+).*/\2/p' "$errors" | tail -n 1)"
    [ -n "$refused" ] && grep -q "^$refused:" <<< "$wishes" || return 1
    stuck="${stuck:+$stuck|}$refused"
    wishes="$(grep -v "^$refused:" <<< "$wishes")"
  done
  return 1
}
for round in 1 2 3 4 5 6 7 8; do
  commands="$(perl -e '
    my $until = shift; my (@locked, $name, %found);
    open my $lock, "<", "Cargo.lock" or exit;
    while (<$lock>) {
      $name = $1 if /^name = "(.+)"/;
      push @locked, [$name, $1] if /^version = "(.+)"/;
    }
    sub parts { map { 0 + $_ } $_[0] =~ /^(\d+)\.(\d+)\.(\d+)/ }
    my %pinned; if (open my $pins, "<", "$ENV{ATLAS_ENV}/resolved.lock") {
      while (<$pins>) { push @{$pinned{$1}}, $2 if /^(\S+) (\S+)$/ }
    }
    sub line { my ($x, $y, $z) = parts($_[0]); $x ? "$x" : $y ? "0.$y" : "0.0.$z" }
    for my $at (@locked) {
      my ($name, $version) = @$at;
      if (%pinned) {
        my @pins = grep { $_ ne "" } @{$pinned{$name} || []};
        next if !@pins || grep { $_ eq $version } @pins;
        my ($pin) = grep { line($_) eq line($version) } @pins;
        print "$name:$version ", $pin || $pins[0], "\n";
        next;
      }
      my $low = lc $name; my $n = length $low;
      my $path = $n < 3 ? "$n/$low" : $n == 3 ? "3/" . substr($low, 0, 1) . "/$low"
        : substr($low, 0, 2) . "/" . substr($low, 2, 2) . "/$low";
      my ($file) = glob("\"" . ($ENV{CARGO_HOME} || "$ENV{HOME}/.cargo") . "\"/registry/index/*/.cache/$path");
      next unless $file && open my $index, "<", $file;
      local $/; my $text = <$index>; my ($young, $best, @best);
      for my $entry (split /\0/, $text) {
        next unless $entry =~ /"vers":\s*"([^"]+)"/; my $other = $1;
        next unless $entry =~ /"pubtime":\s*"([^"]+)"/; my $born = $1;
        $young = 1 if $other eq $version && $born gt $until;
        next if $born gt $until || $other =~ /^[^+]*-/ || $entry =~ /"yanked":\s*true/ || line($other) ne line($version);
        my @p = parts($other);
        ($best, @best) = ($other, @p) if !$best || $p[0] <=> $best[0] || $p[1] <=> $best[1] || $p[2] <=> $best[2]
          and !$best || ($p[0] <=> $best[0] || $p[1] <=> $best[1] || $p[2] <=> $best[2]) > 0;
      }
      print "$name:$version $best\n" if $young && $best;
    }' "$until")"
  [ -n "$commands" ] || break
  cp Cargo.lock "$lock"
  if [ -z "$single" ] && at_once; then continue; fi
  # One by one, where together they do not fit.
  cp "$lock" Cargo.lock
  single=1 changed=""
  while read -r spec version; do
    for offline in --offline ""; do
      if cargo update $offline -p "$spec" --precise "$version" > /dev/null 2>&1 < /dev/null; then changed=1; break; fi
    done
  done <<< "$commands"
  [ -n "$changed" ] || { echo "atlas: not brought back to $1: $(tr '\n' ';' <<< "$commands")"; break; }
done
exit 0
