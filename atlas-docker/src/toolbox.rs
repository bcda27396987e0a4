//! Helper programs that plans call: files of their own, laid into an environment as they are.
//!
//! A plan names those that it calls in its field `tools`; they lie in `$ATLAS_ENV/toolbox`.

use atlas_core::EnvironmentPlan;

/// A helper program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool {
    /// Its file's name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! tools {
    ($($constant:ident = $name:literal, $path:literal;)*) => {
        $(pub(crate) const $constant: &str = $name;)*
        const TOOLS: &[Tool] = &[$(Tool { name: $name, text: include_str!($path) },)*];
    };
}

tools! {
    AVA_TWO = "ava-two.cjs", "languages/javascript/adapters/ava-two.cjs";
    CARGO_FREEZE = "cargo-freeze", "languages/rust/freeze.sh";
    CARGO_TEST_EACH = "cargo-test-each", "languages/rust/test.sh";
    COMPOSER_INSTALL = "composer-install", "languages/php/install.sh";
    CTEST = "ctest.sh", "languages/cpp/native/scripts/ctest.sh";
    GO_INIT = "go-init", "languages/go/init.sh";
    GO_SPECS = "go-specs", "languages/go/specs.sh";
    GO_TEST_EVENTS = "go-test-events", "languages/go/events.sh";
    GRADLE_LAUNCHER = "gradle-launcher", "languages/java/launcher.sh";
    GRADLE_RESOLVE = "gradle-resolve", "languages/java/resolve.sh";
    HEAD_LOCK = "head-lock", "languages/javascript/head-lock.sh";
    GRADLE_INIT = "init.gradle", "languages/java/init.gradle";
    INSTALL_PYTHON = "install-python", "languages/python/install.sh";
    JASMINE_TAP = "jasmine-tap.cjs", "languages/javascript/adapters/jasmine-tap.cjs";
    KEEP_GOING = "keep_going.rb", "languages/ruby/keep_going.rb";
    LOAD = "load.rb", "languages/ruby/load.rb";
    MADE_OF = "made-of.sh", "languages/cpp/native/scripts/made-of.sh";
    MAKE = "make.sh", "languages/cpp/native/scripts/make.sh";
    MAVEN_FETCH = "maven-fetch", "languages/java/fetch.sh";
    MESON = "meson.sh", "languages/cpp/native/scripts/meson.sh";
    MOCHA_TWO = "mocha-two.cjs", "languages/javascript/mocha-two.cjs";
    MONO_TARGET = "mono-target.proj", "languages/csharp/mono-target.proj";
    MONO_TEST = "mono-test", "languages/csharp/mono.sh";
    NAMED = "named.py", "languages/python/named.py";
    NODE_HEADERS = "node-headers", "languages/javascript/headers.sh";
    NODE_VERSION = "node-version", "languages/javascript/version.sh";
    NODE_WHOLE = "node-whole.cjs", "languages/javascript/node-whole.cjs";
    NPM_ANYHOW = "npm-anyhow", "languages/javascript/npm-anyhow.sh";
    NUGET_RESTORE = "nuget-restore", "languages/csharp/nuget.sh";
    OWN_RELEASE = "own-release.cjs", "languages/javascript/own-release.cjs";
    PLAYWRIGHT_TWO = "playwright-two.cjs", "languages/javascript/adapters/playwright-two.cjs";
    PYTHON_UV = "python-uv", "languages/python/uv.sh";
    PYTHON_VENV = "python-venv", "languages/python/venv.sh";
    REPORT = "report.rb", "languages/ruby/report.rb";
    RESULTS = "results.awk", "languages/cpp/native/scripts/results.awk";
    SERVICE = "service", "services/service.sh";
    SUBMODULES = "submodules", "submodules.sh";
    UNITTEST_TWO = "unittest-two.py", "languages/python/unittest-two.py";
    UVU_TAP = "uvu-tap.cjs", "languages/javascript/adapters/uvu-tap.cjs";
    UVU_TAP_MODULE = "uvu-tap.mjs", "languages/javascript/adapters/uvu-tap.mjs";
}

/// The helper program of this name.
pub fn tool(name: &str) -> Option<Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

/// The helper programs that a plan names.
///
/// # Errors
/// [`UnknownTool`] for a name that this version's toolbox does not have.
pub fn tools(plan: &EnvironmentPlan) -> Result<Vec<Tool>, UnknownTool> {
    let named = plan.tools.iter();
    named
        .map(|name| tool(name).ok_or_else(|| UnknownTool(name.clone())))
        .collect()
}

/// A plan names a helper program that is not in the toolbox.
#[derive(Debug, thiserror::Error)]
#[error("plan field `tools`: `{0}` is not in this version's toolbox, which has {known}", known = names())]
pub struct UnknownTool(pub String);

fn names() -> String {
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    names.join(", ")
}

/// Adds a helper program to a plan, once.
pub(crate) fn add(plan: &mut EnvironmentPlan, name: &str) {
    if let Err(at) = plan
        .tools
        .binary_search_by(|known| known.as_str().cmp(name))
    {
        plan.tools.insert(at, name.to_owned());
    }
}

/// Where one lies, for a command.
pub(crate) fn path(name: &str) -> String {
    format!("\"$ATLAS_ENV/toolbox/{name}\"")
}

/// The command that runs one in bash.
pub(crate) fn call(name: &str) -> String {
    format!("bash {}", path(name))
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, add, tools};
    use atlas_core::EnvironmentPlan;

    #[test]
    fn the_toolbox_is_sorted_and_its_names_are_plain() {
        assert!(TOOLS.is_sorted_by(|a, b| a.name < b.name));
        for tool in TOOLS {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(tool.name.chars().all(plain), "{}", tool.name);
            assert!(tool.text.ends_with('\n'), "{}", tool.name);
        }
    }

    /// They run on a project's own Node, which may be the one of years ago.
    #[test]
    fn javascript_is_such_as_old_nodes_read() {
        let scripts = TOOLS.iter().filter(|tool| {
            let is_script = tool
                .name
                .rsplit_once('.')
                .is_some_and(|(_, end)| end == "cjs");
            is_script || tool.text.contains("node -e")
        });
        for tool in scripts {
            for newer in [
                "catch {",
                "?.[",
                "?.(",
                " ?? ",
                "??=",
                "||=",
                ".flatMap(",
                "rmSync(",
                "withFileTypes",
                " import(",
            ] {
                let line = tool
                    .text
                    .lines()
                    .find(|line| line.contains(newer) && !line.contains("new Function("));
                assert_eq!(line, None, "{}: `{newer}`", tool.name);
            }
        }
    }

    #[test]
    fn a_plan_names_each_of_its_tools_once() {
        let mut plan = EnvironmentPlan::default();
        for name in ["service", "ctest.sh", "service"] {
            add(&mut plan, name);
        }
        assert_eq!(plan.tools, ["ctest.sh", "service"]);
        assert_eq!(tools(&plan).unwrap().len(), 2);
        plan.tools.push("nothing".to_owned());
        let why = tools(&plan).unwrap_err().to_string();
        assert!(why.contains("`tools`: `nothing`"), "{why}");
    }
}
