if curl -sSfL --retry 2 -o /dev/null https://www.nuget.org/api/v2/; then
  exit 0
fi
apt-get update
mkdir -p nuget
lay() {
  apt-get install -y --no-install-recommends "$1" || return 0
  dpkg -L "$1" | grep '\.dll$' | grep -v '/policy\.' | while read -r file; do
    if [ -f "$file" ]; then
      cp -L "$file" nuget/
      say "${file##*/} of Debian's $1 in the place of NuGet's"
    fi
  done
}
@PACKAGES@
rm -rf /var/lib/apt/lists/*
