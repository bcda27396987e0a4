if (for try in 1 2 3; do timeout 60 gem specification --remote rake version > /dev/null 2>&1 && exit 0; sleep 2; done; exit 1); then
  exit 0
fi
apt-get update
found=""
for gem in @GEMS@; do
  if apt-cache show "ruby-$gem" > /dev/null 2>&1; then
    found="$found ruby-$gem"
  elif apt-cache show "$gem" 2> /dev/null | grep -E '^Depends:.*ruby' > /dev/null; then
    found="$found $gem"
  else
    say "Debian has no package of the gem $gem"
  fi
done
apt-get install -y --no-install-recommends ruby ruby-dev rake bundler
apt-get install -y --no-install-recommends $found || for name in $found; do
  apt-get install -y --no-install-recommends "$name" || say "not installed: $name"
done
say "no gem registry can be reached: Ruby and gems are Debian's"
# A tool may have brought the project itself, of another day. The package stays, for apt's sake.
for own in @OWN@; do
  for name in "ruby-$own" "$own"; do
    # A library of Ruby, no program that has the same name.
    dpkg -s "$name" 2> /dev/null | grep -E '^Depends:.*ruby' > /dev/null || continue
    say "the files of Debian's $name give way to the project's own"
    dpkg -L "$name" | while IFS= read -r path; do
      if [ -f "$path" ] || [ -L "$path" ]; then rm -f "$path"; fi
    done
  done
done
rm -rf /var/lib/apt/lists/*
install -m 755 bundle /usr/local/bin/bundle
