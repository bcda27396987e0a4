//! Environment variables that CI sets for tests, as far as a plan can take them over.

use super::Reach;
use super::{Ci, Job, Placed};
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// How a line of a plan's `drift` begins that names variables with which CI runs the same tests once more.
pub const ALSO_WITH: &str = "CI runs the tests once more with ";

/// Variables with a meaning of their own for the systems and frameworks that tests run under.
const KNOWN: &[&str] = &[
    "APP_ENV",
    "ASPNETCORE_ENVIRONMENT",
    "DJANGO_SETTINGS_MODULE",
    "FLASK_ENV",
    "MOZ_HEADLESS",
    "MPLBACKEND",
    "OMP_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONPATH",
    "PYTHONUTF8",
    "QT_QPA_PLATFORM",
    "RACK_ENV",
    "RAILS_ENV",
    "SDL_AUDIODRIVER",
    "SDL_VIDEODRIVER",
    "TZ",
];

/// Names that are secrets, or settings of CI, of package managers, compilers and test runners:
/// these are decided by the plan itself, or harm it (colours break logs, `-Werror` builds).
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)
        token | secret | passw | api_?key | private | credential | (^|_)key$ | webhook | (^|_)dsn$ | colou?r
        | ^( CI | PATH | HOME | USER | SHELL | TERM | COLUMNS | CC | CXX | FC | GO[A-Z0-9]+ | TMPDIR | NODE_ENV | DEBIAN_FRONTEND | DISPLAY )$
        | ^( CI_ | GITHUB_ | GH_ | RUNNER_ | ACTIONS_ | ACT_ | CIRCLE | TRAVIS | GITLAB | GIT_ | APPVEYOR | CIRRUS | SYSTEM_ | BUILD_
           | CODECOV | COVERAGE | COVERALLS | CC_TEST | SONAR | DOCKER | KUBE | AWS_ | GCP | GOOGLE_ | AZURE_ | CACHE | CCACHE | SCCACHE
           | NPM_ | YARN_ | PNPM_ | NODE_OPTIONS | PIP | UV_ | POETRY | PDM_ | HATCH | CONDA | MAMBA | MINICONDA | VIRTUALENV
           | CARGO | RUST | CFLAGS | CXXFLAGS | CPPFLAGS | LDFLAGS | MAKEFLAGS | CMAKE | CTEST | MESON | CONAN | VCPKG | LD_ | DYLD_ | LSAN | ASAN | UBSAN | TSAN
           | MAVEN | MVN | GRADLE | JAVA_ | JDK | JVM | _JAVA | KOTLIN | SBT | BUNDLE | GEM | RUBYOPT | RVM | COMPOSER | DOTNET_ | NUGET | MSBUILD
           | PYTEST | TOX | NOX | NOSE | JEST | MOCHA | XDEBUG )",
    )
    .expect("a literal pattern")
});

/// Names of passwords and addresses that are no secrets where the service is started for the tests alone.
static OF_CLIENTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)passw|(^|_)pwd$|(^|_)dsn$|^docker_(host|port)$").expect("a literal pattern")
});

/// Variables that the services' client libraries read themselves.
static LIBRARIES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(PG(HOST|HOSTADDR|PORT|USER|PASSWORD|DATABASE|SSLMODE)|MYSQL_(HOST|TCP_PORT|PWD)|(DATABASE|REDIS|MEMCACHED?|RABBITMQ|AMQP|BROKER)_URL)$",
    )
    .expect("a literal pattern")
});

/// Files whose text shows that the repository itself reads a variable.
const SOURCES: &[&str] = &[
    ".c", ".cc", ".cfg", ".clj", ".cmake", ".cpp", ".cs", ".ex", ".go", ".gradle", ".h", ".hpp",
    ".hs", ".ini", ".java", ".js", ".json", ".kt", ".mjs", ".php", ".pl", ".py", ".rb", ".rs",
    ".scala", ".sh", ".swift", ".toml", ".ts", ".tsx", ".xml",
];

/// Bytes of sources that are searched for names.
const MAX_SEARCHED: usize = 32 << 20;

/// Says in a plan which variables a job of CI sets for a second run of the same test command: another part of the sources,
/// such as the one without an extension, is what that run tests.
pub(crate) fn variants(ci: &Ci, plan: &mut EnvironmentPlan) {
    static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^((?:[A-Z_][A-Z0-9_]*=[^\s'\x22$`]+\s+)+)(\S.*)$").expect("a literal pattern")
    });
    for job in ci.jobs.iter().filter(|job| job.tests()) {
        let texts: Vec<&str> = job.commands.iter().map(|c| c.text.trim()).collect();
        for text in texts.iter().filter(|text| Job::is_test(text)) {
            let Some(found) = ASSIGNED.captures(text) else {
                continue;
            };
            let mut names = found[1]
                .split_whitespace()
                .filter_map(|word| word.split('=').next());
            let is_new = names.any(|name| !FOREIGN.is_match(name) && !plan.env.contains_key(name));
            let line = format!("{ALSO_WITH}{}", found[1].trim());
            if is_new && texts.contains(&&found[2]) && !plan.drift.contains(&line) {
                plan.drift.push(line);
            }
        }
    }
}

/// Adds to a plan the variables that CI sets where it runs tests.
///
/// Taken over are names with a common meaning ([`KNOWN`]) and names that the repository's own
/// sources spell out, with a plain value: no secret, no address, no path of CI's machine, no
/// expression, and the same in all jobs. Names of the second sort are left out where the job has
/// services beside it that are not started here, since they mostly switch on tests that need these;
/// where all of them are, addresses and passwords are taken over too. What the plan sets already stays.
pub(crate) fn environment(ci: &Ci, tree: &Tree, plan: &mut EnvironmentPlan, reaches: &[Reach]) {
    let served = |value: &Placed| {
        let mut whole = reaches.iter().filter(|reach| reach.is_whole());
        whole.find(|reach| reach.is_of(value))
    };
    let mut values: BTreeMap<&str, BTreeMap<&str, &Placed>> = BTreeMap::new();
    let mut with_services = BTreeSet::new();
    for job in ci.jobs.iter().filter(|job| job.tests()) {
        for (name, value) in &job.env {
            values.entry(name).or_default().insert(&value.text, value);
            if !job.services.is_empty() && served(value).is_none() {
                with_services.insert(name.as_str());
            }
        }
    }
    let mut asked = BTreeMap::new();
    for (name, values) in values {
        let Some((_, value)) = values.first_key_value().filter(|_| values.len() == 1) else {
            continue;
        };
        if plan.env.contains_key(name) {
            continue;
        }
        if let Some(encoding) = locale(name, &value.text) {
            let at = Evidence::at(value.file.clone(), value.line, line(name, value));
            if encoding != value.text {
                plan.drift.push(format!(
                    "{name} is {encoding} where CI has {}, which the base image may not know",
                    value.text
                ));
            }
            plan.env.insert(name.to_owned(), encoding.to_owned());
            plan.prove("env", at);
        } else if KNOWN.contains(&name) {
            if let Some(text) = known(name, &value.text) {
                plan.env.insert(name.to_owned(), text);
                let at = Evidence::at(value.file.clone(), value.line, line(name, value));
                plan.prove("env", at);
            }
        } else if wraps(&value.text) {
            let mut at = Evidence::at(value.file.clone(), value.line, line(name, value));
            at.text = format!(
                "overruled: {}: what it wraps takes many times as long",
                at.text
            );
            plan.prove("env", at);
        } else if let Some(reach) = served(value)
            && (!FOREIGN.is_match(name) || OF_CLIENTS.is_match(name))
        {
            if let Some(text) = reach.value(name, &value.text) {
                let value = Placed {
                    text,
                    ..(*value).clone()
                };
                if LIBRARIES.is_match(name) {
                    let at = Evidence::at(value.file.clone(), value.line, line(name, &value));
                    plan.env.insert(name.to_owned(), value.text);
                    plan.prove("env", at);
                } else {
                    asked.insert(name, value);
                }
            }
        } else if !FOREIGN.is_match(name) && plain(&value.text) && !with_services.contains(name) {
            asked.insert(name, (*value).clone());
        }
    }
    for (name, (file, at)) in readers(tree, asked.keys().copied().collect()) {
        let value = &asked[name];
        plan.env.insert(name.to_owned(), value.text.clone());
        let why = Evidence::at(value.file.clone(), value.line, line(name, value));
        plan.prove("env", why);
        plan.prove("env", Evidence::at(file, at, format!("reads {name}")));
    }
}

fn line(name: &str, value: &Placed) -> String {
    format!("CI sets {name}={}", value.text)
}

/// A locale that every image has, for a variable that names one in UTF-8.
fn locale<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    if name != "LANG" && name != "LANGUAGE" && !name.starts_with("LC_") {
        return None;
    }
    let lower = value.to_ascii_lowercase();
    if ["c", "posix", "c.utf-8", "c.utf8"].contains(&lower.as_str()) {
        return Some(value);
    }
    let encoding = lower.rsplit('.').next().unwrap_or_default();
    let is_locale = name != "LANGUAGE" && ["utf-8", "utf8"].contains(&encoding);
    is_locale.then_some("C.UTF-8")
}

/// Whether a value is the beginning of a command that watches or imitates another, which then takes
/// many times as long: no part of what the tests are about.
fn wraps(value: &str) -> bool {
    const WRAPPERS: &[&str] = &[
        "valgrind",
        "strace",
        "ltrace",
        "rr",
        "gdb",
        "lldb",
        "perf",
        "heaptrack",
        "drmemory",
        "systemtap",
        "bpftrace",
        "uftrace",
    ];
    let mut words = value.split_whitespace().map(|word| {
        let program = word.rsplit('/').next().unwrap_or(word);
        program.trim_matches(['"', '\''])
    });
    let Some(first) = words.next() else {
        return false;
    };
    let inner = match first {
        "libtool" | "env" | "exec" | "sudo" | "timeout" => {
            words.find(|word| WRAPPERS.contains(word)).unwrap_or(first)
        }
        _ => first,
    };
    WRAPPERS.contains(&inner) && (inner.len() > 4 || value.contains(' '))
        || inner.starts_with("qemu-")
}

/// The value of a known variable; folders on Python's path are the repository's.
fn known(name: &str, value: &str) -> Option<String> {
    static CHECKOUT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:\$\{\{\s*github\.workspace\s*\}\}|\$\{?(?:GITHUB_WORKSPACE|CI_PROJECT_DIR|TRAVIS_BUILD_DIR|PWD|PYTHONPATH)\}?|\$\(pwd\))")
            .expect("a literal pattern")
    });
    if name != "PYTHONPATH" {
        return plain(value).then(|| value.to_owned());
    }
    let mut folders = Vec::new();
    for part in value.split(':').filter(|part| !part.is_empty()) {
        let part = CHECKOUT.replace(part, ".");
        let part = part.trim_start_matches("./").trim_matches('/');
        if part.split('/').any(|name| name == "..") || part != "." && !plain(part) {
            return None;
        }
        let folder = match part {
            "." | "" => "$ATLAS_REPO".to_owned(),
            part => format!("$ATLAS_REPO/{part}"),
        };
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    (!folders.is_empty()).then(|| folders.join(":"))
}

/// Whether a value means the same on any machine.
fn plain(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= 200
        && !value.contains(['$', '`', '\\', '{', '<', '~', '*', '%'])
        && !value.chars().any(char::is_control)
        && !value.starts_with('/')
        && !["://", "localhost", "127.0.0.1", "0.0.0.0", "***"]
            .iter()
            .any(|part| value.contains(part))
}

/// The first source file and line that reads each of the names.
fn readers<'a>(tree: &Tree, mut names: BTreeSet<&'a str>) -> BTreeMap<&'a str, (String, usize)> {
    let mut found = BTreeMap::new();
    let mut searched = 0;
    for file in tree.files() {
        if names.is_empty() || searched > MAX_SEARCHED {
            break;
        }
        let of_ci = file.starts_with(".github/") || file.starts_with(".circleci/");
        if of_ci || !SOURCES.iter().any(|end| file.ends_with(end)) {
            continue;
        }
        let Some(text) = tree.text(file) else {
            continue;
        };
        searched += text.len();
        let here: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| read(&text, name).is_some())
            .collect();
        for name in here {
            let at = read(&text, name).unwrap_or(0);
            let line = text[..at].matches('\n').count() + 1;
            found.insert(name, (file.to_owned(), line));
            names.remove(name);
        }
    }
    found
}

/// Where a name is read as a variable: as a text of its own, behind a dollar sign, or on a line that speaks of the
/// environment. A message may hold the same word.
fn read(text: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = text.match_indices(name).filter_map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        (!before.ends_with(part) && !after.starts_with(part)).then_some((at, before, after))
    });
    let found = words.find(|(_, before, after)| {
        let is_quoted = ['"', '\'', '`']
            .into_iter()
            .any(|quote| before.ends_with(quote) && after.starts_with(quote));
        let first = before.rsplit('\n').next().unwrap_or_default();
        let last = after.split('\n').next().unwrap_or_default();
        let of_environment = |part: &str| part.to_ascii_lowercase().contains("env");
        is_quoted
            || before.ends_with('$')
            || before.ends_with("${")
            || of_environment(first)
            || of_environment(last)
    });
    found.map(|(at, ..)| at)
}

#[cfg(test)]
mod tests {
    use super::ALSO_WITH;
    use super::read;
    use crate::analysis::testing::planned;

    #[test]
    fn a_variable_is_read_and_a_message_is_not() {
        for text in [
            "if (getenv(\"CHECK\"))",
            "if [ -n \"$CHECK\" ]; then",
            "echo ${CHECK:-no}",
            "const { CHECK } = process.env;",
            "passenv = HOME CHECK",
            "std::env::var(CHECK)",
        ] {
            assert!(read(text, "CHECK").is_some(), "{text}");
        }
        for text in [
            "printf(\"BASE CHECK PASSED\\n\");",
            "/* CHECK this */",
            "$CHECKED",
            "#define CHECK(x) assert(x)",
        ] {
            assert_eq!(read(text, "CHECK"), None, "{text}");
        }
    }
    #[test]
    fn a_second_run_under_a_variable_is_told() {
        let drift = |second: &str| {
            let workflow = format!(
                "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: go test ./...\n      - run: {second}\n"
            );
            let files = [
                ("go.mod", "module example.org/x\n\ngo 1.22\n"),
                ("x_test.go", "package x\n"),
                (".github/workflows/ci.yml", workflow.as_str()),
            ];
            let plan = planned(files, &[]);
            let line = plan
                .drift
                .into_iter()
                .find(|line| line.starts_with(ALSO_WITH));
            line.map(|line| line[ALSO_WITH.len()..].to_owned())
        };
        assert_eq!(drift("X_PURE=1 go test ./...").as_deref(), Some("X_PURE=1"));
        for other in [
            "X_PURE=1 go vet ./...",
            "X_PURE=1 go test ./other",
            "GOMAXPROCS=1 go test ./...",
            "X_PURE=${{ matrix.x }} go test ./...",
        ] {
            assert_eq!(drift(other), None, "{other}");
        }
    }
}
