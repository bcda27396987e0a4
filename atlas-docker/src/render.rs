//! Rendering a plan into a Dockerfile.

use crate::languages::{BUILTIN, needs_no_sources};
use crate::toolbox::{UnknownTool, tools};
use atlas_core::EnvironmentPlan;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, context};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const COMMON: &str = include_str!("languages/common.Dockerfile.j2");

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build()
            .expect("only white space is configured"),
    );
    env.add_filter("envname", envname);
    env.add_filter("envvalue", |value: &str| envvalue(value));
    env.add_template("common", COMMON)
        .expect("the common template is tested");
    for language in BUILTIN {
        env.add_template(language.id(), language.template())
            .expect("a language's template is tested");
    }
    env
});

/// Why a plan has no Dockerfile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The plan's `language` has no template.
    #[error("plan field `language`: no Dockerfile template for `{0}`")]
    UnknownLanguage(String),
    /// The plan's `base_image` is no image reference.
    #[error(
        "plan field `base_image`: `{0}` is no image reference like `python:3.12-slim-bookworm`"
    )]
    BaseImage(String),
    /// The plan names a helper program that is not there.
    #[error(transparent)]
    UnknownTool(UnknownTool),
    /// A template refused a value; the source names it.
    #[error("render the Dockerfile template")]
    Template(#[source] minijinja::Error),
}

/// Renders the vetted template of the plan's language.
///
/// The same plan gives the same bytes. Whatever comes from the repository stands in the result
/// quoted or in a script beside it ([`context_files`]), so that it can neither end an instruction nor begin
/// another one. The result needs no `BuildKit`. Commands are taken from `pre_install`, `build` and `prefetch`; `apt_packages` is for
/// readers, its command stands in `pre_install`.
///
/// # Errors
/// [`RenderError`] names the field of the plan.
pub fn render(plan: &EnvironmentPlan) -> Result<String, RenderError> {
    let template = TEMPLATES
        .get_template(&plan.language)
        .ok()
        .filter(|_| plan.language != "common")
        .ok_or_else(|| RenderError::UnknownLanguage(plan.language.clone()))?;
    let image_like = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    if !plan
        .base_image
        .starts_with(|c: char| c.is_ascii_alphanumeric())
        || !plan.base_image.chars().all(image_like)
    {
        return Err(RenderError::BaseImage(plan.base_image.clone()));
    }
    let steps = Steps::of(plan);
    template
        .render(context! { plan => context! {
            base_image => &plan.base_image,
            tools => !plan.tools.is_empty(),
            pre_install => steps.system,
            setup => steps.setup,
            warm => steps.dependencies,
            build => steps.build,
            prefetch => !plan.prefetch.is_empty(),
            objects => keeps_objects(plan),
            env => &plan.env,
        } })
        .map_err(RenderError::Template)
}

/// The files that a plan's Dockerfile copies, beside the repository's own: `scripts/…`, commands that are
/// too long to be read in it, and `toolbox/…`, the helper programs that the plan names.
///
/// # Errors
/// [`RenderError::UnknownTool`].
pub fn context_files(plan: &EnvironmentPlan) -> Result<BTreeMap<String, String>, RenderError> {
    let mut files = Steps::of(plan).files;
    let mut add = |name: &str, text: &str| {
        files.insert(format!("scripts/{name}"), text.to_owned());
    };
    add("user.sh", include_str!("languages/user.sh"));
    if keeps_objects(plan) {
        add("compilers.sh", include_str!("languages/c/compilers.sh"));
    }
    if OLD_DEBIAN.iter().any(|name| plan.base_image.contains(name)) {
        add("archive.sh", include_str!("languages/archive.sh"));
    }
    for tool in tools(plan).map_err(RenderError::UnknownTool)? {
        files.insert(format!("toolbox/{}", tool.name), tool.text.to_owned());
    }
    Ok(files)
}

/// Releases of Debian that are no longer mirrored.
const OLD_DEBIAN: [&str; 3] = ["jessie", "stretch", "buster"];

/// The command of a plan that a `RUN` instruction stands for, where that runs a script.
pub(crate) fn script_of<'a>(
    files: &'a BTreeMap<String, String>,
    instruction: &str,
) -> Option<(&'a str, &'a str)> {
    let path = instruction.strip_prefix("RUN bash /opt/atlas/")?;
    let (path, text) = files.get_key_value(path)?;
    Some((path, text))
}

/// Whether compilers keep what they make, for the next commit's build. Where a pull request adds
/// dependencies the image has no stage between the base and the sources.
fn keeps_objects(plan: &EnvironmentPlan) -> bool {
    matches!(plan.language.as_str(), "c" | "cpp") && plan.prefetch.is_empty()
}

/// A word for a POSIX shell; unquoted where that is the same.
pub(crate) fn shell_quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A plan's commands as instructions, and the scripts that these run.
#[derive(Default)]
struct Steps {
    system: Vec<String>,
    setup: Vec<String>,
    dependencies: Option<String>,
    build: Vec<String>,
    files: BTreeMap<String, String>,
}

/// What a line of a Dockerfile may hold of a command; a longer one is a script.
const LINE: usize = 196;

/// Where scripts lie in an image.
const SCRIPTS: &str = "/opt/atlas/scripts/";

impl Steps {
    fn of(plan: &EnvironmentPlan) -> Self {
        let mut steps = Self::default();
        // They stand below the manifests: the same for all commits.
        let own = plan
            .build
            .iter()
            .take_while(|command| needs_no_sources(command))
            .count();
        steps.system = steps.numbered(
            "system",
            "As root: what the system has to have.",
            &plan.pre_install,
        );
        steps.setup = steps.numbered(
            "setup",
            "Before the repository is there.",
            &plan.build[..own],
        );
        let rest = &plan.build[own..];
        let before: Vec<String> = (1..=rest.len())
            .map(|at| format!("scripts/build-{at}.sh"))
            .collect();
        steps.build = steps.numbered("build", "In the repository's root.", rest);
        steps.dependencies = steps.dependencies(plan, rest, &before);
        if !plan.prefetch.is_empty() {
            steps
                .files
                .insert("scripts/prefetch.sh".to_owned(), prefetch(&plan.prefetch));
        }
        steps
    }

    /// An instruction for each command: the shell form where that can hold it in a line that people read,
    /// else a script.
    fn numbered(&mut self, name: &str, note: &str, commands: &[String]) -> Vec<String> {
        let mut steps = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let plain = command.len() <= LINE
                && !command.contains(['\n', '\r'])
                && !command.contains("<<")
                && !command.trim_end().ends_with('\\')
                && command.starts_with(|c: char| c.is_alphanumeric() || "_/.({!\"'$:".contains(c));
            if plain {
                steps.push(format!("RUN {command}"));
                continue;
            }
            let path = format!("scripts/{name}-{}.sh", at + 1);
            steps.push(format!("COPY {path} {SCRIPTS}\nRUN bash /opt/atlas/{path}"));
            self.files.insert(
                path,
                format!("# {note}\nset -eo pipefail\n{}\n", lines(command)),
            );
        }
        steps
    }

    /// Instructions that install dependencies by the build's own commands before the sources are
    /// there. What fails without them is no failure. Of the repository's folder only what the language
    /// names stays, and that only if its installation did not have to be helped: the sources are laid
    /// out beside it, so that no product of an empty program is taken for theirs.
    ///
    /// Nothing for languages whose tools keep nothing between builds.
    fn dependencies(
        &mut self,
        plan: &EnvironmentPlan,
        commands: &[String],
        paths: &[String],
    ) -> Option<String> {
        use std::fmt::Write as _;
        let Warm {
            before,
            kept,
            after,
        } = Warm::of(&plan.language)?;
        if commands.is_empty() {
            return None;
        }
        let mut copied = vec!["scripts/dependencies.sh"];
        let mut ran = Vec::new();
        for (at, (command, path)) in commands.iter().zip(paths).enumerate() {
            let month = with_month(command);
            if month == *command && self.files.contains_key(path) {
                // It is there from now on.
                copied.push(path);
                self.build[at] = format!("RUN bash /opt/atlas/{path}");
                ran.push(format!("bash /opt/atlas/{path}"));
            } else {
                ran.push(format!("bash -eo pipefail -c {}", shell_quote(&month)));
            }
        }
        let mut script = format!(
            "# Dependencies, by the build's own commands from the manifests alone: what needs the sources fails,\n\
             # and that is no failure.\n\
             set -eo pipefail\n\
             {before}\
             export ATLAS_WARM=1\n\
             log=/tmp/atlas-warm.log\n\
             {{\n  {}\n}} > \"$log\" 2>&1 || echo 'atlas: the rest of the build needs the sources'\n\
             {after}",
            ran.join(" &&\n  ")
        );
        let all = "find /testbed -mindepth 1 -delete";
        let _ = if kept.is_empty() {
            writeln!(script, "{all}")
        } else {
            // The folders that lead to what is kept are not empty and stay too.
            writeln!(
                script,
                "if grep -q 'atlas: the install failed' \"$log\"; then\n  {all}\nelse\n  \
                 find /testbed -mindepth 1 {kept} -prune -o ! -type d -exec rm -f {{}} +\n  \
                 find /testbed -mindepth 1 -type d -empty -delete\nfi"
            )
        };
        // Tools note in the user's own folder what they did.
        script.push_str("find /tmp -mindepth 1 -user \"$(id -u)\" -delete\n");
        let text = format!(
            "COPY {} {SCRIPTS}\nRUN bash /opt/atlas/scripts/dependencies.sh",
            copied.join(" ")
        );
        self.files
            .insert("scripts/dependencies.sh".to_owned(), script);
        Some(text)
    }
}

/// A command as the lines of a script: a chain of plain commands one below the other, long lists wrapped.
fn lines(command: &str) -> String {
    const WIDTH: usize = 100;
    let plain = !command.contains([
        '\n', '\r', '\\', '"', '\'', '`', '(', ')', '{', '}', '|', ';', '<', '#', '[',
    ]);
    if !plain {
        return command.trim_end().to_owned();
    }
    let mut text = String::new();
    for part in command.split(" && ") {
        let mut width = 0;
        for (at, word) in part.split(' ').enumerate() {
            if at > 0 && width + word.len() >= WIDTH {
                text.push_str(" \\\n  ");
                width = 2;
            } else if at > 0 {
                text.push(' ');
            }
            text.push_str(word);
            width += word.len() + 1;
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// How a language's dependencies are installed from manifests.
#[derive(Default)]
struct Warm {
    /// Lines that go before.
    before: &'static str,
    /// What stays in the repository's folder, as an expression of `find`.
    kept: &'static str,
    /// Lines that go after.
    after: &'static str,
}

impl Warm {
    fn of(language: &str) -> Option<Self> {
        match language {
            "rust" => Some(Self {
                after: CARGO,
                ..Self::default()
            }),
            "javascript" | "typescript" => Some(Self {
                before: NO_SCRIPTS,
                kept: "\\( -name node_modules -o -path /testbed/.yarn/install-state.gz \\)",
                ..Self::default()
            }),
            "php" => Some(Self {
                kept: "\\( -name vendor -o -name composer.lock \\)",
                ..Self::default()
            }),
            "go" | "python" | "java" | "ruby" => Some(Self::default()),
            _ => None,
        }
    }
}

/// What Cargo compiled for the repository's own packages.
const CARGO: &str = r#"# What was compiled for the repository's own packages is of empty programs.
for name in $(find /testbed -name Cargo.toml -exec sed -n 's/^name *= *"\([^"]*\)".*/\1/p' {} +); do
  rm -rf "${CARGO_TARGET_DIR:-/testbed/target}"/*/.fingerprint/"$name"-*
done
"#;

/// Scripts of the repository's own packages need its sources; those of the dependencies run.
const NO_SCRIPTS: &str = r"# Scripts of the repository's own packages need its sources; those of dependencies run.
find /testbed -name package.json -not -path '*/node_modules/*' -print0 | xargs -0 -r node -e '
  for (const file of process.argv.slice(1)) try {
    const its = JSON.parse(fs.readFileSync(file))
    delete its.scripts
    fs.writeFileSync(file, JSON.stringify(its, null, 2))
  } catch {}'
";

/// Dates as the first of their month: what was resolved as of then is no younger than what is
/// asked for, and the commits of a month share it.
fn with_month(command: &str) -> String {
    static DATE: LazyLock<regex::Regex> = LazyLock::new(|| {
        regex::Regex::new(r"\b((?:19|20)[0-9]{2}-[01][0-9])-[0-3][0-9](?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2})?)?")
            .expect("the pattern is tested")
    });
    DATE.replace_all(command, "$1-01").into_owned()
}

/// A script that installs what only the pull request's manifests name, in a scratch copy.
fn prefetch(commands: &[String]) -> String {
    use std::fmt::Write as _;
    let mut script =
        "# Dependencies that only the pull request's manifests name, in a scratch copy.\n\
        set -eo pipefail\n\
        mkdir /tmp/atlas-prefetch\n\
        cp -a /testbed/. /tmp/atlas-head/. /tmp/atlas-prefetch/\n\
        cd /tmp/atlas-prefetch\n"
            .to_owned();
    for command in commands {
        // Each in its own shell: a syntax error in one is that one's failure.
        let quoted = shell_quote(command);
        let _ = writeln!(
            script,
            "bash -eo pipefail -c {quoted} || echo 'atlas: prefetch failed'"
        );
    }
    script.push_str("cd /\nrm -rf /tmp/atlas-prefetch\n");
    script
}

fn envname(name: &str) -> Result<String, minijinja::Error> {
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if good {
        Ok(name.to_owned())
    } else {
        Err(minijinja::Error::new(
            ErrorKind::InvalidOperation,
            format!("plan field `env`: `{name}` is no variable name"),
        ))
    }
}

/// A quoted value. Docker expands the variables that a plan may use and no other.
fn envvalue(value: &str) -> String {
    const OPEN: &[&str] = &["ATLAS_REPO", "ATLAS_ENV", "ATLAS_CACHE", "HOME", "PATH"];
    let mut text = String::from("\"");
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            // A value of several lines would end the instruction.
            '\n' | '\r' => text.push(' '),
            '$' => {
                let after = after.strip_prefix('{').unwrap_or(after);
                let end = after
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(after.len());
                if !OPEN.contains(&&after[..end]) {
                    text.push('\\');
                }
                text.push('$');
            }
            c => text.push(c),
        }
        rest = after;
    }
    text.push('"');
    text
}
