# Runs the tests of every target that compiles. `cargo test` alone runs nothing where one target
# does not, so then the targets are built and run one by one, each by cargo itself: what did not
# build is not run, however old a binary of it lies about.
#
# Arguments: flags of `cargo test` for packages and features, then `--` and what test binaries get.
# ATLAS_TESTS: files and folders from the repository's root, separated by blanks, for a part of the tests: the
# targets that hold these files, of larger ones the files' modules alone; of a package's folder all its targets.
set -u
export LC_ALL=C.UTF-8
flags=() run=()
while [ $# -gt 0 ]; do
  if [ "$1" = -- ]; then shift; run=("$@"); break; fi
  flags+=("$1"); shift
done
log="$(mktemp)"
trap 'rm -f "$log"' EXIT

# Macros take in folders of tests, whose files cargo does not watch: where a state has laid something below `tests`, the
# programs there are compiled again.
newest="$(find "${CARGO_TARGET_DIR:-target}" -path '*/deps/*.d' -printf '%T@ %p\n' 2> /dev/null | sort -n | tail -n 1)"
if [ -n "$newest" ]; then
  find . -name target -prune -o -path './.*' -prune -o -path '*/tests/*' -newer "${newest#* }" -print |
    sed -n 's|\(.*/tests\)/.*|\1|p' | sort -u | while IFS= read -r folder; do
    while [ -n "$folder" ]; do
      # Of folders within one another the one that belongs to a package.
      [ ! -f "${folder%/tests}/Cargo.toml" ] || find "$folder" -maxdepth 2 \( -path "$folder/*.rs" -a ! -path "$folder/*/*" -o -name main.rs \) -exec touch {} +
      case "${folder%/tests}" in */tests/*) folder="${folder%/tests}"; folder="${folder%/tests/*}/tests" ;; *) folder="" ;; esac
    done
  done
fi
if [ -z "${ATLAS_TESTS:-}" ] && cargo test --no-run --offline "${flags[@]}" > "$log" 2>&1 < /dev/null; then
  cargo test --no-fail-fast --offline "${flags[@]}" -- "${run[@]}" < /dev/null
  exit
fi

# One line for each target that `cargo test` would run: package, option, name, names of tests, features. A package is
# told by its place: its name alone may be a dependency's too, as where tests compare with an earlier release.
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
  my ($repo, @places) = (($ENV{ATLAS_REPO} || ".") . "/", split " ", $ENV{ATLAS_TESTS} || "");
  sub text { my $file; open($file, "<", shift) ? scalar <$file> : "" }
  # The files of a target: each with the path of its module.
  sub walk {
    my ($file, $folder, $module, $found) = @_;
    return if defined $found->{$file};
    $found->{$file} = $module;
    my $text = text($file);
    while ($text =~ /(?:#\[path\s*=\s*"([^"]+)"\]\s*(?:#\[[^\]]*\]\s*)*)?(?:pub(?:\([^)]*\))?\s+)?\bmod\s+(?:r#)?(\w+)\s*;/g) {
      my ($path, $name) = ($1, $2);
      my @names = defined $path ? ($file =~ s{[^/]*$}{$path}r) : ("$folder/$name.rs", "$folder/$name/mod.rs");
      for my $child (map { s{(^|/)\./}{$1}gr } grep { -f } @names) {
        1 while $child =~ s{[^/]+/\.\./}{};
        my $below = defined $path ? $child =~ s{/[^/]*$}{}r : "$folder/$name";
        walk($child, $below, "$module${name}::", $found);
      }
    }
  }
  my %default = map { $_ => 1 } @{$meta->{workspace_default_members} || []};
  my ($root) = grep { $_->{manifest_path} eq "$meta->{workspace_root}/Cargo.toml" } @{$meta->{packages}};
  for my $package (@{$meta->{packages}}) {
    my ($name, $id) = @$package{qw(name id)};
    next if $without{$name};
    my $home = $package->{manifest_path} =~ s{/[^/]*$}{}r;
    utf8::encode(my $place = $home);
    my $spec = "file://" . ($place =~ s{([^\w/.~-])}{sprintf "%%%02X", ord $1}ager) . "#$name:$package->{version}";
    my (%trees, %wanted, %stems);
    if (@places) {
      for my $target (@{$package->{targets}}) {
        $stems{$target->{name} . $target->{kind}[0]} = $target->{src_path} =~ s{(/main)?\.rs$}{/}r;
        walk($target->{src_path}, $target->{src_path} =~ s{/[^/]*$}{}r, "", $trees{$target->{name} . $target->{kind}[0]} = {});
      }
      for my $place (map { $_ eq "." ? $repo =~ s{/$}{}r : $repo . $_ } @places) {
        if ($place eq $home) { $wanted{$_}{""} = 1 for keys %trees, "doc"; next }
        next unless $place =~ /\.rs$/ && index($place, "$home/") == 0 && -f $place;
        next if grep { $_->{manifest_path} ne $package->{manifest_path} && index($_->{manifest_path}, "$home/") == 0
          && index($place, $_->{manifest_path} =~ s{[^/]*$}{}r) == 0 } @{$meta->{packages}};
        my @in = grep { defined $trees{$_}{$place} } keys %trees;
        # What no module names is data of tests, or a part of one by a macro: of the program of that name.
        my @near = grep { index($place, $stems{$_}) == 0 } keys %trees;
        $wanted{$_}{""} = 1 for @in ? () : @near ? @near : keys %trees;
        # Of a module without tests the program is wanted that has it.
        my $tests = text($place) =~ /#\[[\w:]*(?:test|case)|(?:proptest|quickcheck)!/;
        $wanted{$_}{$tests ? $trees{$_}{$place} : ""} = 1 for @in;
        $wanted{doc}{substr $place, length "$home/"} = 1 if text($place) =~ m{^\s*//[/!].*```}m;
      }
      next unless %wanted;
    }
    next unless @places ? 1 : %only ? $only{$name} : $all || (%default ? $default{$id} : !$root || $root->{id} eq $id);
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
      my $tests = sub {
        return "-" unless @places;
        my $names = $wanted{$_[0]} or return;
        $names->{""} ? "-" : join " ", sort keys %$names
      };
      my ($own, $doc) = (&$tests($target->{name} . $kind), &$tests("doc"));
      print join("\t", $spec, "--lib", "-", $own, $with), "\n" if $own && $lib && $target->{test};
      print join("\t", $spec, "--doc", "-", $doc, $with), "\n" if $doc && $lib && $target->{doctest};
      print join("\t", $spec, "--$kind", $target->{name}, $own, $with), "\n"
        if $own && $kind =~ /^(bin|test|example|bench)$/ && $target->{test};
    }
  }' -- "${flags[@]}" 2> /dev/null)"
if [ -z "$targets" ] && [ -n "${ATLAS_TESTS:-}" ] && cargo metadata --no-deps --offline --format-version 1 > "$log" 2>&1; then
  echo 'atlas: no target holds one of these files'
  exit 0
elif [ -z "$targets" ]; then
  # Nothing can be said of single targets: the manifests themselves are at fault.
  cat "$log"
  exit 101
fi

failed=0 broken=""
# Tests may read standard input: the list comes by another way.
while IFS=$'\t' read -r package option name tests features <&3; do
  case "$broken" in *" $package "*) continue ;; esac
  read -ra select <<< "$features"
  read -ra only <<< "${tests#-}"
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
  cargo test --no-fail-fast --offline "${select[@]}" "${target[@]}" -- "${only[@]}" "${run[@]}" < /dev/null || failed=101
done 3<<< "$targets"
exit "$failed"
