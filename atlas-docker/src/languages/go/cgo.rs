//! Libraries that cgo links, as Debian packages.

use crate::tree::Tree;
use atlas_core::Evidence;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Names for pkg-config and for the linker -> Debian package.
const LIBRARIES: &[(&str, &str)] = &[
    ("GL", "libgl1-mesa-dev"),
    ("X11", "libx11-dev"),
    ("acl", "libacl1-dev"),
    ("alsa", "libasound2-dev"),
    ("asound", "libasound2-dev"),
    ("btrfs", "libbtrfs-dev"),
    ("bz2", "libbz2-dev"),
    ("cairo", "libcairo2-dev"),
    ("cap", "libcap-dev"),
    ("curl", "libcurl4-openssl-dev"),
    ("devmapper", "libdevmapper-dev"),
    ("ffi", "libffi-dev"),
    ("gl", "libgl1-mesa-dev"),
    ("glfw3", "libglfw3-dev"),
    ("gpgme", "libgpgme-dev"),
    ("gtk+-3.0", "libgtk-3-dev"),
    ("hidapi", "libhidapi-dev"),
    ("jpeg", "libjpeg-dev"),
    ("lept", "libleptonica-dev"),
    ("leveldb", "libleveldb-dev"),
    ("libcurl", "libcurl4-openssl-dev"),
    ("libgit2", "libgit2-dev"),
    ("libpcap", "libpcap-dev"),
    ("libseccomp", "libseccomp-dev"),
    ("libsystemd", "libsystemd-dev"),
    ("libusb-1.0", "libusb-1.0-0-dev"),
    ("libxml-2.0", "libxml2-dev"),
    ("libzmq", "libzmq3-dev"),
    ("libzstd", "libzstd-dev"),
    ("lmdb", "liblmdb-dev"),
    ("lz4", "liblz4-dev"),
    ("lzma", "liblzma-dev"),
    ("magic", "libmagic-dev"),
    ("openal", "libopenal-dev"),
    ("opencv4", "libopencv-dev"),
    ("openssl", "libssl-dev"),
    ("opus", "libopus-dev"),
    ("pam", "libpam0g-dev"),
    ("pcap", "libpcap-dev"),
    ("pcre", "libpcre3-dev"),
    ("png", "libpng-dev"),
    ("portaudio-2.0", "portaudio19-dev"),
    ("pq", "libpq-dev"),
    ("rdkafka", "librdkafka-dev"),
    ("readline", "libreadline-dev"),
    ("rocksdb", "librocksdb-dev"),
    ("sdl2", "libsdl2-dev"),
    ("seccomp", "libseccomp-dev"),
    ("snappy", "libsnappy-dev"),
    ("sqlite3", "libsqlite3-dev"),
    ("ssl", "libssl-dev"),
    ("systemd", "libsystemd-dev"),
    ("taglib", "libtag1-dev"),
    ("tesseract", "libtesseract-dev"),
    ("udev", "libudev-dev"),
    ("usb-1.0", "libusb-1.0-0-dev"),
    ("uuid", "uuid-dev"),
    ("vips", "libvips-dev"),
    ("vpx", "libvpx-dev"),
    ("x11", "libx11-dev"),
    ("z", "zlib1g-dev"),
    ("zlib", "zlib1g-dev"),
    ("zmq", "libzmq3-dev"),
    ("zstd", "libzstd-dev"),
];

/// The Debian packages that cgo needs: the libraries that `#cgo` lines for Linux name, each with one such line, and the
/// compiler of C++ where a package that imports "C" has such sources.
pub(super) fn packages(tree: &Tree) -> BTreeMap<&'static str, Evidence> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?://)?\s*#cgo\s+([^:]*?)\s*(pkg-config|LDFLAGS)\s*:(.*)$")
            .expect("a literal pattern")
    });
    let mut found = BTreeMap::new();
    for path in tree.ending(".go") {
        let Some(text) = tree.text(path).filter(|text| text.contains("import \"C\"")) else {
            continue;
        };
        if let Some(source) = c_plus_plus(tree, path) {
            let at = || Evidence::of(source, "C++ in a package that imports \"C\"");
            found.entry("g++").or_insert_with(at);
        }
        for (at, line) in text.lines().enumerate() {
            let Some(parts) = LINE.captures(line) else {
                continue;
            };
            let elsewhere = [
                "windows", "darwin", "freebsd", "openbsd", "netbsd", "android",
            ];
            if elsewhere.iter().any(|system| parts[1].contains(system)) {
                continue;
            }
            let at = || Evidence::at(path, at + 1, line.trim());
            // It is asked for by name, whether or not the library's package is known here.
            if &parts[2] == "pkg-config" {
                found.entry("pkg-config").or_insert_with(at);
            }
            for word in parts[3].split_whitespace() {
                let name = if &parts[2] == "LDFLAGS" {
                    word.strip_prefix("-l")
                } else {
                    Some(word)
                };
                let known = LIBRARIES.iter().find(|(library, _)| Some(*library) == name);
                if let Some((_, package)) = known {
                    found.entry(*package).or_insert_with(at);
                }
            }
        }
    }
    found
}

/// A source in C++ beside the Go file: `go build` compiles it with the package.
fn c_plus_plus<'a>(tree: &'a Tree, go: &str) -> Option<&'a str> {
    let folder = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
    let beside = |path: &&str| path[..folder(path)] == go[..folder(go)];
    let mut sources = [".cc", ".cpp", ".cxx"]
        .into_iter()
        .flat_map(|end| tree.ending(end));
    sources.find(beside)
}

#[cfg(test)]
mod tests {
    use super::packages;
    use crate::tree::Tree;

    #[test]
    fn pkg_config_is_needed_where_a_library_is_asked_for_by_it() {
        let of = |line: &str| {
            let folder = tempfile::tempdir().unwrap();
            let text = format!("package a\n\n/*\n{line}\n*/\nimport \"C\"\n");
            std::fs::write(folder.path().join("a.go"), text).unwrap();
            let found = packages(&Tree::open(folder.path()).unwrap());
            found.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(of("#cgo pkg-config: taglib"), ["libtag1-dev", "pkg-config"]);
        assert_eq!(of("#cgo linux pkg-config: unheard-of"), ["pkg-config"]);
        assert_eq!(of("#cgo darwin pkg-config: taglib"), Vec::<&str>::new());
        assert_eq!(of("#cgo LDFLAGS: -lz -lstdc++"), ["zlib1g-dev"]);
    }
    #[test]
    fn sources_in_c_plus_plus_need_their_compiler_where_the_package_imports_c() {
        let of = |go: &str, others: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("tags")).unwrap();
            std::fs::write(folder.path().join("tags/a.go"), go).unwrap();
            for other in others {
                std::fs::write(folder.path().join(other), "int a;\n").unwrap();
            }
            let found = packages(&Tree::open(folder.path()).unwrap());
            found.into_keys().collect::<Vec<_>>()
        };
        let with_c = "package tags\n\nimport \"C\"\n";
        assert_eq!(of(with_c, &["tags/a.cpp"]), ["g++"]);
        assert_eq!(of(with_c, &["tags/a.cc", "b.cc"]), ["g++"]);
        assert_eq!(of(with_c, &["b.cpp", "tags/a.c"]), Vec::<&str>::new());
        assert_eq!(of("package tags\n", &["tags/a.cpp"]), Vec::<&str>::new());
    }
}
