//! Debian packages that dependencies need to compile or to run.

use crate::facts::Facts;
use atlas_core::{EnvironmentPlan, Evidence};
use std::collections::{BTreeMap, BTreeSet};

/// Dependency -> Debian packages, by language id. Wheels make most of the Python rows unneeded on
/// common machines; an extra header package does no harm.
const TABLE: &[(&str, &str, &[&str])] = &[
    ("python", "psycopg2", &["build-essential", "libpq-dev"]),
    (
        "python",
        "mysqlclient",
        &[
            "build-essential",
            "default-libmysqlclient-dev",
            "pkg-config",
        ],
    ),
    (
        "python",
        "python-ldap",
        &["build-essential", "libldap2-dev", "libsasl2-dev"],
    ),
    (
        "python",
        "pycurl",
        &["build-essential", "libcurl4-openssl-dev", "libssl-dev"],
    ),
    (
        "python",
        "xmlsec",
        &["build-essential", "libxmlsec1-dev", "pkg-config"],
    ),
    (
        "python",
        "pygraphviz",
        &["build-essential", "graphviz", "libgraphviz-dev"],
    ),
    (
        "python",
        "dbus-python",
        &["build-essential", "libdbus-1-dev", "libglib2.0-dev"],
    ),
    (
        "python",
        "pycairo",
        &["build-essential", "libcairo2-dev", "pkg-config"],
    ),
    ("python", "python-magic", &["libmagic1"]),
    ("python", "opencv-python", &["libgl1", "libglib2.0-0"]),
    (
        "javascript",
        "canvas",
        &[
            "build-essential",
            "libcairo2-dev",
            "libjpeg-dev",
            "libpango1.0-dev",
            "python3",
        ],
    ),
    ("javascript", "node-gyp", &["build-essential", "python3"]),
    (
        "javascript",
        "node-addon-api",
        &["build-essential", "python3"],
    ),
    ("javascript", "bcrypt", &["build-essential", "python3"]),
    (
        "javascript",
        "better-sqlite3",
        &["build-essential", "python3"],
    ),
    ("javascript", "argon2", &["build-essential", "python3"]),
    ("javascript", "isolated-vm", &["build-essential", "python3"]),
    (
        "javascript",
        "kerberos",
        &["build-essential", "libkrb5-dev", "python3"],
    ),
    ("javascript", "leveldown", &["build-essential", "python3"]),
    ("javascript", "node-pty", &["build-essential", "python3"]),
    ("javascript", "node-sass", &["build-essential", "python3"]),
    (
        "javascript",
        "pg-native",
        &["build-essential", "libpq-dev", "python3"],
    ),
    ("javascript", "re2", &["build-essential", "python3"]),
    ("javascript", "sqlite3", &["build-essential", "python3"]),
    ("javascript", "zeromq", &["build-essential", "python3"]),
    ("rust", "openssl-sys", &["libssl-dev", "pkg-config"]),
    ("rust", "openssl", &["libssl-dev", "pkg-config"]),
    ("rust", "native-tls", &["libssl-dev", "pkg-config"]),
    ("rust", "libsqlite3-sys", &["libsqlite3-dev", "pkg-config"]),
    (
        "rust",
        "libgit2-sys",
        &["cmake", "libssl-dev", "pkg-config"],
    ),
    ("rust", "pq-sys", &["libpq-dev"]),
    ("rust", "mysqlclient-sys", &["default-libmysqlclient-dev"]),
    ("rust", "prost-build", &["protobuf-compiler"]),
    ("rust", "bindgen", &["clang", "libclang-dev"]),
    ("rust", "alsa-sys", &["libasound2-dev", "pkg-config"]),
    ("rust", "libudev-sys", &["libudev-dev", "pkg-config"]),
    ("rust", "libdbus-sys", &["libdbus-1-dev", "pkg-config"]),
    (
        "rust",
        "curl-sys",
        &["libcurl4-openssl-dev", "libssl-dev", "pkg-config"],
    ),
    ("rust", "cmake", &["cmake", "g++"]),
    ("rust", "aws-lc-sys", &["cmake", "g++"]),
    ("rust", "jemalloc-sys", &["make"]),
    ("rust", "tikv-jemalloc-sys", &["make"]),
    ("rust", "openssl-src", &["make", "perl"]),
    ("rust", "rdkafka-sys", &["make", "zlib1g-dev"]),
    (
        "go",
        "github.com/confluentinc/confluent-kafka-go",
        &["librdkafka-dev"],
    ),
    (
        "go",
        "github.com/libgit2/git2go",
        &["libgit2-dev", "pkg-config"],
    ),
    ("ruby", "pg", &["libpq-dev"]),
    ("ruby", "mysql2", &["default-libmysqlclient-dev"]),
    ("ruby", "sqlite3", &["libsqlite3-dev"]),
    (
        "ruby",
        "nokogiri",
        &["libxml2-dev", "libxslt1-dev", "pkg-config"],
    ),
    ("ruby", "ffi", &["libffi-dev"]),
    ("ruby", "curb", &["libcurl4-openssl-dev"]),
    ("ruby", "patron", &["libcurl4-openssl-dev"]),
    ("ruby", "typhoeus", &["libcurl4"]),
    ("ruby", "eventmachine", &["libssl-dev"]),
    ("ruby", "puma", &["libssl-dev"]),
    ("ruby", "rmagick", &["libmagickwand-dev", "pkg-config"]),
    ("ruby", "mini_magick", &["imagemagick"]),
    ("ruby", "ruby-vips", &["libvips-dev"]),
    ("ruby", "charlock_holmes", &["libicu-dev", "pkg-config"]),
    ("ruby", "rugged", &["cmake", "libssl-dev", "pkg-config"]),
    ("ruby", "ruby-filemagic", &["libmagic-dev"]),
    ("ruby", "snappy", &["libsnappy-dev"]),
    ("ruby", "rdkafka", &["librdkafka-dev"]),
    ("ruby", "execjs", &["nodejs"]),
    ("ruby", "uglifier", &["nodejs"]),
    ("ruby", "autoprefixer-rails", &["nodejs"]),
    ("ruby", "pandoc-ruby", &["pandoc"]),
    ("ruby", "childprocess", &["procps"]),
];

/// Adds what the table knows of `dependencies` (name, file it stands in) and what CI installs by
/// apt, and writes the install commands.
///
/// CI runs on another system, mostly Ubuntu: a name from there may be unknown to the base image's,
/// and apt installs all of its names or none. So those are tried one by one.
pub(crate) fn packages(
    facts: &Facts<'_>,
    language: &str,
    dependencies: &[(String, String)],
    extra: &[(&str, Evidence)],
    plan: &mut EnvironmentPlan,
) {
    packages_but(|_| false, facts, language, dependencies, extra, plan);
}

/// [`packages`] without those of CI that the language's tests do without.
pub(crate) fn packages_but(
    is_needless: impl Fn(&str) -> bool,
    facts: &Facts<'_>,
    language: &str,
    dependencies: &[(String, String)],
    extra: &[(&str, Evidence)],
    plan: &mut EnvironmentPlan,
) {
    let mut known: BTreeMap<String, Vec<Evidence>> = BTreeMap::new();
    for (name, file) in dependencies {
        for (of, dependency, packages) in TABLE {
            if *of == language && dependency == name {
                for package in *packages {
                    let text = format!("{name} needs {package}");
                    let why = Evidence::of(file.clone(), text);
                    known.entry((*package).to_owned()).or_default().push(why);
                }
            }
        }
    }
    for (package, why) in extra {
        let reasons = known.entry((*package).to_owned()).or_default();
        reasons.push(why.clone());
    }
    let mut tried = BTreeSet::new();
    for (package, at) in facts.ci.apt_packages() {
        if is_needless(&package) {
            continue;
        }
        let why = Evidence::at(at.file, at.line, at.text);
        let in_table = TABLE
            .iter()
            .any(|(_, _, packages)| packages.contains(&package.as_str()));
        if in_table || known.contains_key(&package) {
            known.entry(package).or_default().insert(0, why);
        } else if tried.insert(package) {
            plan.prove("apt_packages", why);
        }
    }
    for why in known.values().filter_map(|reasons| reasons.first()) {
        plan.prove("apt_packages", why.clone());
    }
    let words = |names: &mut dyn Iterator<Item = &String>| -> String {
        names.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    if !known.is_empty() {
        plan.pre_install.push(format!(
            "apt-get update && apt-get install -y --no-install-recommends {} && rm -rf /var/lib/apt/lists/*",
            words(&mut known.keys())
        ));
    }
    if !tried.is_empty() {
        plan.pre_install.push(format!(
            "apt-get update && for name in {}; do apt-get install -y --no-install-recommends \"$name\" || echo \"atlas: not installed: $name\"; done && rm -rf /var/lib/apt/lists/*",
            words(&mut tried.iter())
        ));
        let names: Vec<&str> = tried.iter().map(String::as_str).collect();
        plan.drift.push(format!(
            "packages of CI's system, which the base image's may not have: {}",
            names.join(", ")
        ));
    }
    plan.apt_packages.extend(known.into_keys());
    plan.apt_packages.extend(tried);
    plan.apt_packages.sort();
    plan.apt_packages.dedup();
}
