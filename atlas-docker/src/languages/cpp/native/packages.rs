//! Debian packages of libraries, by the names that build systems know them under.

use super::listing::Call;
use atlas_core::Evidence;

/// Names (of `find_package`, of pkg-config, of the linker, of headers) and the packages.
const LIBRARIES: &[(&[&str], &[&str])] = &[
    (&["zlib", "z", "zlib.h"], &["zlib1g-dev"]),
    (&["bzip2", "bz2", "bzlib.h"], &["libbz2-dev"]),
    (&["liblzma", "lzma", "lzma.h"], &["liblzma-dev"]),
    (&["zstd", "libzstd", "zstd.h"], &["libzstd-dev"]),
    (&["lz4", "liblz4", "lz4.h"], &["liblz4-dev"]),
    (&["snappy"], &["libsnappy-dev"]),
    (
        &[
            "openssl",
            "libssl",
            "libcrypto",
            "ssl",
            "crypto",
            "openssl/ssl.h",
            "openssl/evp.h",
        ],
        &["libssl-dev"],
    ),
    (&["gnutls", "gnutls/gnutls.h"], &["libgnutls28-dev"]),
    (&["mbedtls", "mbedcrypto"], &["libmbedtls-dev"]),
    (&["libsodium", "sodium", "sodium.h"], &["libsodium-dev"]),
    (&["libgcrypt", "gcrypt", "gcrypt.h"], &["libgcrypt20-dev"]),
    (
        &["curl", "libcurl", "curl/curl.h"],
        &["libcurl4-openssl-dev"],
    ),
    (
        &["libxml2", "xml2", "libxml-2.0", "libxml/parser.h"],
        &["libxml2-dev"],
    ),
    (&["libxslt", "xslt"], &["libxslt1-dev"]),
    (&["expat", "expat.h"], &["libexpat1-dev"]),
    (&["yaml", "yaml-0.1", "yaml.h"], &["libyaml-dev"]),
    (&["yaml-cpp"], &["libyaml-cpp-dev"]),
    (&["jansson", "jansson.h"], &["libjansson-dev"]),
    (&["json-c", "json-c/json.h"], &["libjson-c-dev"]),
    (&["cjson", "libcjson"], &["libcjson-dev"]),
    (&["nlohmann_json", "nlohmann"], &["nlohmann-json3-dev"]),
    (&["rapidjson"], &["rapidjson-dev"]),
    (&["jsoncpp"], &["libjsoncpp-dev"]),
    (
        &["sqlite3", "sqlite3.h", "unofficial-sqlite3"],
        &["libsqlite3-dev"],
    ),
    (&["postgresql", "libpq", "pq", "libpq-fe.h"], &["libpq-dev"]),
    (
        &["mysql", "mysqlclient", "libmysqlclient"],
        &["default-libmysqlclient-dev"],
    ),
    (
        &["libevent", "event", "event2/event.h", "event.h"],
        &["libevent-dev"],
    ),
    (&["libev", "ev", "ev.h"], &["libev-dev"]),
    (&["libuv", "uv", "uv.h", "libuv1"], &["libuv1-dev"]),
    (
        &[
            "glib-2.0",
            "glib2",
            "glib.h",
            "gio-2.0",
            "gobject-2.0",
            "gthread-2.0",
        ],
        &["libglib2.0-dev"],
    ),
    (
        &["ncurses", "ncursesw", "curses", "ncurses.h", "tinfo"],
        &["libncurses-dev"],
    ),
    (&["readline", "readline/readline.h"], &["libreadline-dev"]),
    (&["libedit", "edit"], &["libedit-dev"]),
    (&["pcre", "libpcre", "pcre.h"], &["libpcre3-dev"]),
    (
        &["pcre2", "libpcre2-8", "pcre2-8", "pcre2.h"],
        &["libpcre2-dev"],
    ),
    (&["onig", "oniguruma", "oniguruma.h"], &["libonig-dev"]),
    (&["icu", "icu-uc", "icu-i18n", "icuuc"], &["libicu-dev"]),
    (&["gmp", "gmp.h"], &["libgmp-dev"]),
    (&["mpfr", "mpfr.h"], &["libmpfr-dev"]),
    (&["fftw3", "fftw", "fftw3.h"], &["libfftw3-dev"]),
    (&["eigen3", "eigen"], &["libeigen3-dev"]),
    (&["blas", "openblas", "cblas.h"], &["libopenblas-dev"]),
    (&["lapack", "lapacke"], &["liblapack-dev", "liblapacke-dev"]),
    (&["hdf5"], &["libhdf5-dev"]),
    (&["png", "libpng", "png.h"], &["libpng-dev"]),
    (&["jpeg", "libjpeg", "jpeglib.h"], &["libjpeg-dev"]),
    (&["tiff", "libtiff-4", "tiffio.h"], &["libtiff-dev"]),
    (&["webp", "libwebp"], &["libwebp-dev"]),
    (&["freetype", "freetype2"], &["libfreetype-dev"]),
    (&["fontconfig"], &["libfontconfig-dev"]),
    (&["cairo"], &["libcairo2-dev"]),
    (&["x11", "xlib.h", "x11/xlib.h"], &["libx11-dev"]),
    (&["opengl", "gl", "gl/gl.h"], &["libgl-dev"]),
    (&["glfw3", "glfw"], &["libglfw3-dev"]),
    (&["glew"], &["libglew-dev"]),
    (&["sdl2"], &["libsdl2-dev"]),
    (&["alsa", "asound"], &["libasound2-dev"]),
    (&["sndfile"], &["libsndfile1-dev"]),
    (&["ogg"], &["libogg-dev"]),
    (&["vorbis"], &["libvorbis-dev"]),
    (&["flac"], &["libflac-dev"]),
    (&["protobuf"], &["libprotobuf-dev", "protobuf-compiler"]),
    (
        &["grpc", "grpc++"],
        &["libgrpc++-dev", "protobuf-compiler-grpc"],
    ),
    (&["gflags"], &["libgflags-dev"]),
    (&["glog"], &["libgoogle-glog-dev"]),
    (&["absl"], &["libabsl-dev"]),
    (&["benchmark"], &["libbenchmark-dev"]),
    (&["fmt"], &["libfmt-dev"]),
    (&["spdlog"], &["libspdlog-dev"]),
    (&["cxxopts"], &["libcxxopts-dev"]),
    (&["cli11"], &["libcli11-dev"]),
    (&["asio", "asio.hpp"], &["libasio-dev"]),
    (&["zeromq", "libzmq", "zmq", "zmq.h"], &["libzmq3-dev"]),
    (&["hiredis"], &["libhiredis-dev"]),
    (&["rdkafka"], &["librdkafka-dev"]),
    (&["libarchive", "archive", "archive.h"], &["libarchive-dev"]),
    (&["libzip", "zip"], &["libzip-dev"]),
    (&["libelf", "elf", "libelf.h"], &["libelf-dev"]),
    (&["libdw", "dw"], &["libdw-dev"]),
    (&["libunwind", "unwind"], &["libunwind-dev"]),
    (&["libusb-1.0", "libusb", "usb-1.0"], &["libusb-1.0-0-dev"]),
    (&["libudev", "udev"], &["libudev-dev"]),
    (&["libsystemd", "systemd"], &["libsystemd-dev"]),
    (&["dbus-1", "dbus"], &["libdbus-1-dev"]),
    (&["libcap", "cap"], &["libcap-dev"]),
    (&["libseccomp", "seccomp"], &["libseccomp-dev"]),
    (&["pam", "security/pam_appl.h"], &["libpam0g-dev"]),
    (&["acl", "libacl"], &["libacl1-dev"]),
    (&["attr", "libattr"], &["libattr1-dev"]),
    (&["uuid", "uuid/uuid.h"], &["uuid-dev"]),
    (&["ltdl", "ltdl.h"], &["libltdl-dev"]),
    (&["ffi", "libffi"], &["libffi-dev"]),
    (&["lua", "lua5.3", "lua53", "lua.h"], &["liblua5.3-dev"]),
    (&["luajit"], &["libluajit-5.1-dev"]),
    (&["tbb"], &["libtbb-dev"]),
    (&["pcap", "libpcap", "pcap.h"], &["libpcap-dev"]),
    (&["cares", "libcares", "c-ares"], &["libc-ares-dev"]),
    (&["libnghttp2", "nghttp2"], &["libnghttp2-dev"]),
    (&["libssh2"], &["libssh2-1-dev"]),
    (&["libssh"], &["libssh-dev"]),
    (&["libgit2"], &["libgit2-dev"]),
    (&["popt", "popt.h"], &["libpopt-dev"]),
    (&["argp"], &[]),
    (&["jemalloc"], &["libjemalloc-dev"]),
    (&["numa"], &["libnuma-dev"]),
    (&["double-conversion"], &["libdouble-conversion-dev"]),
    (&["utf8proc"], &["libutf8proc-dev"]),
    (&["utf8cpp"], &["libutfcpp-dev"]),
    (&["tinyxml2"], &["libtinyxml2-dev"]),
    (&["pugixml"], &["libpugixml-dev"]),
    (&["re2"], &["libre2-dev"]),
    (&["range-v3"], &["librange-v3-dev"]),
    (&["ms-gsl", "microsoft.gsl"], &["libmsgsl-dev"]),
    // Test frameworks.
    (
        &[
            "gtest",
            "gmock",
            "googletest",
            "gtest_main",
            "gtest/gtest.h",
        ],
        &["googletest", "libgmock-dev", "libgtest-dev"],
    ),
    (&["catch2", "catch2-with-main"], &["catch2"]),
    (&["doctest"], &["doctest-dev"]),
    (&["cmocka", "cmocka.h"], &["libcmocka-dev"]),
    (&["check", "check.h"], &["check", "libsubunit-dev"]),
    (&["cunit", "cunit/cunit.h"], &["libcunit1-dev"]),
    (&["cppunit", "cppunit/testcase.h"], &["libcppunit-dev"]),
    (&["cpputest"], &["libcpputest-dev"]),
    (
        &["criterion", "criterion/criterion.h"],
        &["libcriterion-dev"],
    ),
    (&["cgreen"], &["libcgreen1-dev"]),
    (
        &["boost", "boost/test/unit_test.hpp"],
        &["libboost-test-dev"],
    ),
    (&["atf", "atf-c"], &["libatf-dev"]),
    // Tools that builds and tests run.
    (&["python", "python3", "pythoninterp", "py"], &["python3"]),
    (&["perl"], &["perl"]),
    (&["bison", "yacc"], &["bison"]),
    (&["flex", "lex"], &["flex"]),
    (&["re2c"], &["re2c"]),
    (&["gperf"], &["gperf"]),
    (&["nasm"], &["nasm"]),
    (&["gettext", "msgfmt", "intl"], &["gettext"]),
    (&["kyua"], &["kyua"]),
    (&["atf-sh"], &["atf-sh"]),
    (&["bats"], &["bats"]),
    (&["prove"], &["perl"]),
    (&["redis-server"], &["redis-server"]),
    (&["expect", "runtest"], &["dejagnu", "expect"]),
];

/// Parts of Boost, each a package of its own; all of it is large.
const BOOST: &[(&str, &str)] = &[
    ("unit_test_framework", "libboost-test-dev"),
    ("system", "libboost-system-dev"),
    ("filesystem", "libboost-filesystem-dev"),
    ("thread", "libboost-thread-dev"),
    ("program_options", "libboost-program-options-dev"),
    ("regex", "libboost-regex-dev"),
    ("date_time", "libboost-date-time-dev"),
    ("chrono", "libboost-chrono-dev"),
    ("serialization", "libboost-serialization-dev"),
    ("iostreams", "libboost-iostreams-dev"),
    ("random", "libboost-random-dev"),
];

/// The packages of a library or tool.
pub(super) fn of(name: &str) -> &'static [&'static str] {
    let name = name.to_ascii_lowercase();
    LIBRARIES
        .iter()
        .find(|(names, _)| names.contains(&name.as_str()))
        .map_or(&[], |(_, packages)| packages)
}

/// What a set of names needs, with the place of each.
pub(super) type Wanted = Vec<(&'static str, Evidence)>;

/// Adds the packages of a name.
pub(super) fn want(wanted: &mut Wanted, name: &str, why: &Evidence) {
    for package in of(name) {
        wanted.push((package, why.clone()));
    }
}

/// Packages of what a `CMake` call looks for. What is neither required nor looked for by every
/// build or by the tests is an option that the build does without.
pub(super) fn of_call(call: &Call, in_tests: bool, wanted: &mut Wanted) {
    let why = Evidence::at(call.file.clone(), call.line, call.text());
    let needed = call.has("REQUIRED") || in_tests || call.conditions.is_empty();
    match call.name.as_str() {
        "find_package" if needed => {
            let Some(name) = call.words.first() else {
                return;
            };
            if name.eq_ignore_ascii_case("boost") {
                let parts: Vec<&str> = BOOST
                    .iter()
                    .filter(|(part, _)| call.has(part))
                    .map(|(_, package)| *package)
                    .collect();
                wanted.push(("libboost-dev", why.clone()));
                wanted.extend(parts.into_iter().map(|package| (package, why.clone())));
                return;
            }
            want(wanted, name, &why);
        }
        "pkg_check_modules" | "pkg_search_module" if needed => {
            wanted.push(("pkg-config", why.clone()));
            for word in call.words.iter().skip(1) {
                let end = word.find(['>', '=', '<']).unwrap_or(word.len());
                want(wanted, &word[..end], &why);
            }
        }
        "find_program" | "find_library" if needed => {
            for word in call.words.iter().skip(1) {
                want(wanted, word, &why);
            }
        }
        _ => {}
    }
}

/// Packages that jobs of CI install and tests of C and C++ do without: other compilers, what
/// checks or measures code, what writes documentation, and what the image has.
pub(super) fn is_needless(package: &str) -> bool {
    const STARTS: &[&str] = &[
        "clang",
        "llvm",
        "lld",
        "libc++",
        "gcc",
        "g++",
        "cpp-",
        "mingw",
        "wine",
        "lcov",
        "gcovr",
        "doxygen",
        "graphviz",
        "texlive",
        "cppcheck",
        "ccache",
        "valgrind",
        "qemu",
        "gdb",
        "libclang",
        "linux-",
        "software-properties",
        "apt-",
        "ca-certificates",
        "python3-pip",
        "build-essential",
        "sudo",
        "docker",
        "musl",
        "crossbuild",
        "cmake",
        "ninja",
        "iwyu",
        "libasan",
        "libubsan",
        "libtsan",
        "debian-",
        "nodejs",
        "npm",
    ];
    const ENDS: &[&str] = &["-multilib", "-cross", ":i386", "-linux-gnu", "-gnueabihf"];
    STARTS.iter().any(|start| package.starts_with(start))
        || ENDS.iter().any(|end| package.ends_with(end))
}
