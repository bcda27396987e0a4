//! Debian packages that dependencies need to compile or to run.

use crate::analysis::Facts;
use atlas_core::{EnvironmentPlan, Evidence};

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
];

/// Adds what CI installs by apt and what the table knows of `dependencies` (name, file it stands
/// in), and writes the install command.
pub(crate) fn packages(
    facts: &Facts<'_>,
    language: &str,
    dependencies: &[(String, String)],
    extra: &[(&str, Evidence)],
    plan: &mut EnvironmentPlan,
) {
    let mut wanted: Vec<(String, Evidence)> = facts
        .ci
        .apt_packages()
        .into_iter()
        .map(|(package, at)| (package, Evidence::at(at.file, at.line, at.text)))
        .collect();
    for (name, file) in dependencies {
        for (of, dependency, packages) in TABLE {
            if *of == language && dependency == name {
                for package in *packages {
                    let text = format!("{name} needs {package}");
                    wanted.push(((*package).to_owned(), Evidence::of(file.clone(), text)));
                }
            }
        }
    }
    wanted.extend(
        extra
            .iter()
            .map(|(package, why)| ((*package).to_owned(), why.clone())),
    );
    for (package, why) in wanted {
        if !plan.apt_packages.contains(&package) {
            plan.prove("apt_packages", why);
            plan.apt_packages.push(package);
        }
    }
    plan.apt_packages.sort();
    if !plan.apt_packages.is_empty() {
        plan.pre_install.push(format!(
            "apt-get update && apt-get install -y --no-install-recommends {} && rm -rf /var/lib/apt/lists/*",
            plan.apt_packages.join(" ")
        ));
    }
}
