# Runs the tests of every target that compiles. `cargo test` alone runs nothing where one target
# does not, so then the targets are built and run one by one, each by cargo itself: what did not
# build is not run, however old a binary of it lies about.
#
# Arguments: flags of `cargo test` for packages and features, then `--` and what test binaries get.
set -u
export LC_ALL=C.UTF-8
flags=() run=()
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then shift; run=("$@"); break; fi
  flags+=("$1"); shift
done
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
if cargo test --no-run --offline "${flags[@]}" > "$log" 2>&1 < /dev/null; then
  cargo test --no-fail-fast --offline "${flags[@]}" -- "${run[@]}" < /dev/null
  exit
fi

# One line for each target that `cargo test` would run: package, option, name, features.
targets="$(cargo metadata --no-deps --offline --format-version 1 2> /dev/null | perl -MJSON::PP -e '
  my ($all, %only, %without, @features, @plain);
  while (defined(my $word = shift)) {
    if ($word =~ /^(--workspace|--all)$/) { $all = 1 }
    elsif ($word =~ /^(?:-p|--package)$/) { $only{shift()} = 1 }
    elsif ($word eq "--exclude") { $without{shift()} = 1 }
    elsif ($word =~ /^(?:-F|--features)$/) { push @features, split /[ ,]+/, shift }
    elsif ($word =~ /^--features=(.*)/) { push @features, split /[ ,]+/, $1 }
    else { push @plain, $word }
  }
  local $/; my $meta = decode_json(<STDIN>);
  my %default = map { $_ => 1 } @{$meta->{workspace_default_members} || []};
  my ($root) = grep { $_->{manifest_path} eq "$meta->{workspace_root}/Cargo.toml" } @{$meta->{packages}};
  for my $package (@{$meta->{packages}}) {
    my ($name, $id) = @$package{qw(name id)};
    next if $without{$name};
    next unless %only ? $only{$name} : $all || (%default ? $default{$id} : !$root || $root->{id} eq $id);
    # A package refuses features that it does not have.
    my %has = map { $_ => 1 } keys %{$package->{features}};
    $has{$_->{rename} || $_->{name}} = 1 for grep { $_->{optional} } @{$package->{dependencies}};
    my @mine = grep { defined } map {
      my ($of, $feature) = m{^([^/]+)/(.+)$} ? ($1, $2) : ($name, $_);
      $of eq $name ? ($has{$feature} ? $feature : undef) : ($has{$of} ? $_ : undef)
    } @features;
    my $with = join " ", @plain, @mine ? ("--features", join ",", @mine) : ();
    for my $target (sort { $a->{name} cmp $b->{name} } @{$package->{targets}}) {
      my $kind = $target->{kind}[0];
      my $lib = $kind =~ /lib$|^proc-macro$/;
      print join("\t", $name, "--lib", "-", $with), "\n" if $lib && $target->{test};
      print join("\t", $name, "--doc", "-", $with), "\n" if $lib && $target->{doctest};
      print join("\t", $name, "--$kind", $target->{name}, $with), "\n"
        if $kind =~ /^(bin|test|example|bench)$/ && $target->{test};
    }
  }' -- "${flags[@]}" 2> /dev/null)"
if [ -z "$targets" ]; then
  # Nothing can be said of single targets: the manifests themselves are at fault.
  cat "$log"
  exit 101
fi

failed=0 broken=""
# Tests may read standard input: the list comes by another way.
while IFS=$'\t' read -r package option name features <&3; do
  case "$broken" in *" $package "*) continue ;; esac
  read -ra select <<< "$features"
  select+=(-p "$package")
  target=("$option") build=(test --no-run "$option")
  [ "$name" = - ] || { target+=("$name"); build+=("$name"); }
  # Documentation tests are compiled while they run, against the library.
  [ "$option" != --doc ] || build=(build --lib)
  if ! cargo "${build[@]}" --offline "${select[@]}" > "$log" 2>&1 < /dev/null; then
    # A target behind features that are not switched on is none of this run's.
    if ! grep -q 'requires the features' "$log"; then
      cat "$log"
      failed=101
      # Without its library no other target of a package compiles.
      ! grep -qE 'could not compile `[^`]+` \(lib\)' "$log" || broken="$broken $package "
    fi
    continue
  fi
  cargo test --no-fail-fast --offline "${select[@]}" "${target[@]}" -- "${run[@]}" < /dev/null || failed=101
done 3<<< "$targets"
exit "$failed"
