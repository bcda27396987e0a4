//! A page for each command, from clap's tree.

use super::{MADE, prose};
use clap::{Arg, ArgAction, Command};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A page for each command and one that lists them.
pub(super) fn pages(tree: &Command) -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    let mut list = format!("# Commands\n\n{}\n\n", about(tree));
    list.push_str("| command | does |\n|---|---|\n");
    for command in shown(tree) {
        let name = command.get_name();
        let does = about(command);
        let does = does.split("\n\n").next().unwrap_or_default();
        let _ = writeln!(list, "| [`atlas {name}`]({name}.md) | {does} |");
        let mut text = String::new();
        section(&mut text, command, &format!("atlas {name}"), 1);
        pages.insert(
            format!("commands/{name}.md"),
            text.trim_end().to_owned() + "\n" + MADE,
        );
    }
    list.push_str("\nEvery command takes these, too:\n\n");
    for arg in tree.get_arguments().filter(|arg| arg.is_global_set()) {
        let _ = writeln!(list, "- `{}`: {}", written(arg), help(arg));
    }
    pages.insert("commands/index.md".to_owned(), list + MADE);
    pages
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|one| !one.is_hide_set() && one.get_name() != "help")
}

/// One command and those below it, with headings from this level on.
fn section(text: &mut String, command: &Command, name: &str, level: usize) {
    let marks = "#".repeat(level);
    let _ = write!(text, "{marks} `{name}`\n\n{}\n\n", about(command));
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    for line in usage.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("atlas ").unwrap_or(line);
        let _ = writeln!(text, "- `atlas {line}`");
    }
    text.push('\n');
    let own = |arg: &&Arg| {
        !arg.is_hide_set()
            && !arg.is_global_set()
            && !matches!(
                arg.get_action(),
                ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
            )
    };
    for arg in command.get_arguments().filter(own) {
        let _ = write!(text, "{marks}# `{}`\n\n{}\n\n", written(arg), help(arg));
        values(text, arg);
    }
    for below in shown(command) {
        section(
            text,
            below,
            &format!("{name} {}", below.get_name()),
            level + 1,
        );
    }
}

/// An argument as it is typed.
fn written(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(clap::builder::Str::as_str).collect();
    let many = if arg
        .get_num_args()
        .is_some_and(|range| range.max_values() > 1)
    {
        " …"
    } else {
        ""
    };
    let value = match (arg.get_action().takes_values(), names.is_empty()) {
        (false, _) => String::new(),
        (true, true) => arg.get_id().as_str().to_uppercase() + many,
        (true, false) => names.join(" ") + many,
    };
    if arg.is_positional() {
        return value;
    }
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let name: Vec<String> = short.into_iter().chain(long).collect();
    format!("{} {value}", name.join(", ")).trim_end().to_owned()
}

fn help(arg: &Arg) -> String {
    let said = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = sentence(&said.map(ToString::to_string).unwrap_or_default());
    let is_said = text.to_lowercase().contains("default");
    let usual: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if arg.is_required_set() {
        text.push_str(if text.is_empty() {
            "Required."
        } else {
            " Required."
        });
    }
    if arg.get_action().takes_values() && !usual.is_empty() && !is_said {
        let _ = write!(text, " Default: {}.", usual.join(", "));
    }
    text
}

/// The values of which an argument takes one.
fn values(text: &mut String, arg: &Arg) {
    if !arg.get_action().takes_values() {
        return;
    }
    let values = arg.get_possible_values();
    for value in values.iter().filter(|value| !value.is_hide_set()) {
        let about = value.get_help().map(ToString::to_string);
        let about = sentence(&about.unwrap_or_default());
        let colon = if about.is_empty() { "" } else { ": " };
        let _ = writeln!(text, "- `{}`{colon}{about}", value.get_name());
    }
    if !values.is_empty() {
        text.push('\n');
    }
}

fn about(command: &Command) -> String {
    let said = command.get_long_about().or_else(|| command.get_about());
    sentence(&said.map(ToString::to_string).unwrap_or_default())
}

/// With the full stop that clap takes away.
fn sentence(text: &str) -> String {
    let text = prose(text);
    if text.is_empty() || text.ends_with(['.', '?', ':', ']']) {
        return text;
    }
    text + "."
}
