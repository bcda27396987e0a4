//! Which folders hold too much to be shared with untrusted scripts.

use std::path::{Component, Path};

/// Folders directly below `/` that hold everybody's things.
const TOP: [&str; 15] = [
    "Users", "dev", "etc", "home", "media", "mnt", "opt", "proc", "root", "run", "srv", "sys",
    "tmp", "usr", "var",
];

/// Folders of a home that hold secrets, whatever lies in them.
const SECRET: [&str; 9] = [
    ".aws",
    ".azure",
    ".docker",
    ".gnupg",
    ".kube",
    ".mozilla",
    ".password-store",
    ".ssh",
    ".thunderbird",
];

/// Folders of a home that many programs keep their files in.
const COMMON: [&str; 7] = [
    "Desktop",
    "Documents",
    "Downloads",
    "bin",
    "lib",
    "projects",
    "src",
];

/// The same within `.local`, as within `/usr`.
const LOCAL: [&str; 11] = [
    "bin", "etc", "include", "lib", "lib64", "libexec", "opt", "share", "src", "state", "var",
];

/// Whether a folder holds more than one installed thing: a home folder, what lies above one, or a
/// folder of a home that is not one thing's own. A single file never does.
///
/// `home` is this user's folder; others are known by their usual places. Links are followed.
pub(super) fn is_too_wide(path: &Path, home: Option<&Path>) -> bool {
    if path.is_file() {
        return false;
    }
    let real = path.canonicalize();
    let real_home = home.and_then(|home| home.canonicalize().ok());
    let homes = [home, real_home.as_deref()];
    std::iter::once(path)
        .chain(real.as_deref().ok())
        .any(|path| is_wide(path) || homes.iter().flatten().any(|home| is_wide_in(home, path)))
}

/// Told by the usual places.
fn is_wide(path: &Path) -> bool {
    let parts = names(path);
    match parts.as_slice() {
        [] => true,
        [top] => TOP.contains(top),
        ["home" | "Users", user, ..] => is_wide_in(&Path::new("/").join(parts[0]).join(user), path),
        ["root", ..] => is_wide_in(Path::new("/root"), path),
        _ => false,
    }
}

fn is_wide_in(home: &Path, path: &Path) -> bool {
    if home.starts_with(path) {
        return true;
    }
    let Ok(inside) = path.strip_prefix(home) else {
        return false;
    };
    match names(inside).as_slice() {
        [first, ..] if SECRET.contains(first) => true,
        [first] => first.starts_with('.') || COMMON.contains(first),
        [".config" | ".cache", _] => true,
        [".local", second] => LOCAL.contains(second),
        _ => false,
    }
}

fn names(path: &Path) -> Vec<&str> {
    path.components()
        .filter_map(|part| match part {
            // A name that is no text is none of those above.
            Component::Normal(name) => Some(name.to_str().unwrap_or("?")),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::is_too_wide;
    use std::path::Path;

    #[test]
    fn homes_and_common_folders_are_too_wide_and_a_toolchain_s_own_is_not() {
        let home = Some(Path::new("/data/people/me"));
        for path in [
            "/",
            "/data",
            "/data/people/me",
            "/data/people/me/.local",
            "/data/people/me/.local/share",
            "/data/people/me/.config/tool",
            "/data/people/me/.ssh/a/b/c",
            "/data/people/me/bin",
            "/home",
            "/home/other",
            "/home/other/.cache",
            "/root",
            "/opt",
        ] {
            assert!(is_too_wide(Path::new(path), home), "{path}");
        }
        for path in [
            "/data/people/me/.pyenv/versions/3.11.7",
            "/data/people/me/.rustup/toolchains/stable",
            "/home/other/.config/nvm/versions/node/v20.1.0",
            "/data/people/me/.local/share/uv/python/cpython-3.12",
            "/data/people/me/.local/go",
            "/root/go1.22",
            "/opt/python",
            "/usr/local/go",
        ] {
            assert!(!is_too_wide(Path::new(path), home), "{path}");
        }
    }

    #[test]
    fn a_link_to_a_home_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let (home, link) = (folder.path().join("me"), folder.path().join("tools"));
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        assert!(is_too_wide(&link, Some(&home)));
        std::fs::write(home.join("node"), "").unwrap();
        assert!(!is_too_wide(&home.join("node"), Some(&home)));
    }
}
