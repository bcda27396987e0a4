//! Rendering a plan into a Dockerfile.

use crate::languages::BUILTIN;
use crate::quote::shell_quote;
use crate::toolbox::{self, UnknownTool, tools};
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
/// another one. The result needs no `BuildKit`. Commands are taken from `pre_install`, `setup`, `build` and `prefetch`; `apt_packages` is for
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
            pre_install => steps.system,
            setup => steps.setup,
            warm => steps.dependencies,
            build => steps.build,
            prefetch => !plan.prefetch.is_empty(),
            objects => keeps_objects(plan),
            cache => keeps_cache(plan),
            env => &plan.env,
        } })
        .map_err(RenderError::Template)
}

/// The files that a plan's Dockerfile copies, beside the repository's own: `scripts/…`, commands that are
/// too long to be read in it, and `toolbox/…`, the helper programs that the plan and the template name.
///
/// # Errors
/// [`RenderError::UnknownTool`].
pub fn context_files(plan: &EnvironmentPlan) -> Result<BTreeMap<String, String>, RenderError> {
    let mut files = Steps::of(plan).files;
    if OLD_DEBIAN.iter().any(|name| plan.base_image.contains(name)) {
        let text = include_str!("languages/archive.sh");
        files.insert("scripts/archive.sh".to_owned(), text.to_owned());
    }
    let mut add = |name: &str, text: &str| {
        files.insert(format!("toolbox/{name}"), text.to_owned());
    };
    for tool in tools(plan).map_err(RenderError::UnknownTool)? {
        add(tool.name, tool.text);
    }
    // Those that the template itself calls.
    add("user", include_str!("languages/user.sh"));
    if keeps_objects(plan) {
        add("compilers", include_str!("languages/c/compilers.sh"));
    }
    if WARM.contains(&plan.language.as_str()) {
        add(WARM_TOOL, include_str!("languages/warm.sh"));
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

/// Whether the folder of build products is taken over from an earlier commit before dependencies are
/// compiled: where its entries name all that they were made of.
fn keeps_cache(plan: &EnvironmentPlan) -> bool {
    matches!(plan.language.as_str(), "go" | "rust")
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

/// The helper program that installs dependencies from manifests.
const WARM_TOOL: &str = "warm";

/// Where scripts lie in an image.
const SCRIPTS: &str = "/opt/atlas/scripts/";

impl Steps {
    fn of(plan: &EnvironmentPlan) -> Self {
        let mut steps = Self::default();
        steps.system = steps.numbered(
            "system",
            "As root: what the system has to have.",
            &plan.pre_install,
        );
        steps.setup = steps.numbered("setup", "Before the repository is there.", &plan.setup);
        steps.build = steps.numbered("build", "In the repository's root.", &plan.build);
        steps.dependencies = steps.dependencies(plan);
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
    /// there, with the helper program [`WARM_TOOL`]. They are resolved as of the first day of the month, so that its commits
    /// share them: none of them is younger than what is asked for. Nothing for languages whose tools keep nothing between builds.
    fn dependencies(&mut self, plan: &EnvironmentPlan) -> Option<String> {
        if plan.build.is_empty() || !WARM.contains(&plan.language.as_str()) {
            return None;
        }
        let mut copied = Vec::new();
        let mut ran = Vec::new();
        for (at, command) in plan.build.iter().enumerate() {
            let path = format!("scripts/build-{}.sh", at + 1);
            let month = plan.as_of.as_ref().map_or_else(
                || command.clone(),
                |day| command.replace(day.as_str(), day.first_of_month().as_str()),
            );
            if month == *command && self.files.contains_key(&path) {
                // It is there from now on.
                self.build[at] = format!("RUN bash /opt/atlas/{path}");
                ran.push(shell_quote(&format!("bash /opt/atlas/{path}")));
                copied.push(path);
            } else {
                ran.push(shell_quote(&month));
            }
        }
        let call = format!("bash {} {}", toolbox::path(WARM_TOOL), plan.language);
        let in_one = format!("{call} {}", ran.join(" "));
        let run = if in_one.len() <= LINE && !in_one.contains(['\n', '\r']) {
            format!("RUN {in_one}")
        } else {
            copied.insert(0, "scripts/dependencies.sh".to_owned());
            let script = format!(
                "# Dependencies, from the manifests alone.\n{call} \\\n  {}\n",
                ran.join(" \\\n  ")
            );
            self.files
                .insert("scripts/dependencies.sh".to_owned(), script);
            "RUN bash /opt/atlas/scripts/dependencies.sh".to_owned()
        };
        Some(if copied.is_empty() {
            run
        } else {
            format!("COPY {} {SCRIPTS}\n{run}", copied.join(" "))
        })
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

/// Languages whose tools keep between builds what they installed for manifests.
const WARM: &[&str] = &[
    "go",
    "java",
    "javascript",
    "php",
    "python",
    "ruby",
    "rust",
    "typescript",
];

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
