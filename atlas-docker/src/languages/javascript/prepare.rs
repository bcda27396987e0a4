//! What tests need beside their packages: browsers, adapters, builds, variables.

use super::command::major;
use super::manager::{in_folder, target};
use super::package::{Workspace, join};
use super::runner::{Runner, Suite};
use super::suites::Preparation;
use crate::quote::shell_quote;
use crate::toolbox::{self, JASMINE_TAP, UVU_TAP, UVU_TAP_MODULE};
use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence, ReportSpec};
use std::fmt::Write as _;

/// Packages whose install script fetches a program from elsewhere or changes the checkout's hooks,
/// and the variable that stops it.
const DOWNLOADS: &[(&str, &str, &str)] = &[
    ("puppeteer", "PUPPETEER_SKIP_DOWNLOAD", "1"),
    ("puppeteer", "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD", "1"),
    ("playwright", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"),
    (
        "playwright-chromium",
        "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD",
        "1",
    ),
    ("@playwright/test", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"),
    ("cypress", "CYPRESS_INSTALL_BINARY", "0"),
    ("electron", "ELECTRON_SKIP_BINARY_DOWNLOAD", "1"),
    ("chromedriver", "CHROMEDRIVER_SKIP_DOWNLOAD", "true"),
    ("geckodriver", "GECKODRIVER_SKIP_DOWNLOAD", "1"),
    ("@sentry/cli", "SENTRYCLI_SKIP_DOWNLOAD", "1"),
    ("husky", "HUSKY", "0"),
    ("husky", "HUSKY_SKIP_INSTALL", "1"),
    ("simple-git-hooks", "SKIP_INSTALL_SIMPLE_GIT_HOOKS", "1"),
    ("nx", "NX_DAEMON", "false"),
    ("turbo", "TURBO_TELEMETRY_DISABLED", "1"),
    ("next", "NEXT_TELEMETRY_DISABLED", "1"),
];

/// Bundlers that hash with an algorithm which the OpenSSL of Node 17 and later keeps for legacy:
/// the first major that does not.
const OLD_HASHES: &[(&str, u32)] = &[
    ("webpack", 5),
    ("react-scripts", 5),
    ("@vue/cli-service", 5),
    ("@angular-devkit/build-angular", 12),
    ("nuxt", 3),
];

/// Chromium as a container without privileges can run it.
const CHROMIUM: &str = "mkdir -p \"$ATLAS_ENV/bin\" && printf '#!/bin/sh\\nexec /usr/bin/chromium --no-sandbox --disable-dev-shm-usage --disable-gpu \"$@\"\\n' > \"$ATLAS_ENV/bin/chromium\" && chmod +x \"$ATLAS_ENV/bin/chromium\"";

/// Variables that follow from what is installed.
pub(super) fn variables(
    workspace: &Workspace,
    suites: &[Suite],
    node: u32,
    plan: &mut EnvironmentPlan,
) {
    let dependencies = workspace.dependencies();
    for (name, variable, value) in DOWNLOADS {
        let used = *name == "cypress" && suites.iter().any(|suite| suite.runner == Runner::Cypress);
        if dependencies.contains_key(*name) && !used {
            plan.env.insert((*variable).to_owned(), (*value).to_owned());
        }
    }
    let old = OLD_HASHES.iter().find_map(|(name, mended)| {
        let (range, file) = dependencies.get(*name)?;
        let old = major(range).is_some_and(|major| major < *mended);
        old.then(|| (format!("{name} {range}"), file.clone()))
    });
    if let Some((what, file)) = old.filter(|_| node >= 17) {
        plan.env.insert(
            "NODE_OPTIONS".to_owned(),
            "--openssl-legacy-provider".to_owned(),
        );
        plan.drift.push(format!(
            "Node runs with --openssl-legacy-provider, as {what} hashes with what newer OpenSSL refuses"
        ));
        plan.prove(
            "env",
            Evidence::of(file, format!("{what} under Node {node}")),
        );
    }
    // Each tool's own idea of how many workers fit counts the host's cores, not what is allowed.
    if suites.iter().any(|suite| suite.runner == Runner::Vitest) {
        for (name, value) in [
            ("VITEST_MIN_THREADS", "1"),
            ("VITEST_MAX_THREADS", "2"),
            ("VITEST_MIN_FORKS", "1"),
            ("VITEST_MAX_FORKS", "2"),
            ("VITEST_MAX_WORKERS", "2"),
        ] {
            plan.env.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Debian packages for browsers, each with its reason, and the commands and variables that make
/// the tests use them.
pub(super) fn browsers(
    workspace: &Workspace,
    suites: &[Suite],
    plan: &mut EnvironmentPlan,
) -> Vec<(&'static str, Evidence)> {
    let dependencies = workspace.dependencies();
    let runs = |runner| suites.iter().any(|suite| suite.runner == runner);
    let manifest = workspace.main().manifest();
    let puppeteer = dependencies.get("puppeteer");
    let mut packages = Vec::new();
    if runs(Runner::Cypress) {
        for package in [
            "libasound2",
            "libgbm1",
            "libgtk-3-0",
            "libnotify4",
            "libnss3",
            "libxss1",
            "libxtst6",
            "xauth",
            "xvfb",
        ] {
            packages.push((
                package,
                Evidence::of(manifest.clone(), "cypress runs a browser of its own"),
            ));
        }
        plan.env.insert(
            "CYPRESS_CACHE_FOLDER".to_owned(),
            "$ATLAS_ENV/cypress".to_owned(),
        );
    }
    if puppeteer.is_none() && !runs(Runner::Karma) && !runs(Runner::Playwright) {
        return packages;
    }
    let (file, why) = match puppeteer {
        Some((_, file)) => (file.clone(), "puppeteer drives a browser"),
        None => (manifest, "the tests run in a browser"),
    };
    packages.push(("chromium", Evidence::of(file, why)));
    plan.build.push(CHROMIUM.to_owned());
    for name in ["CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH"] {
        plan.env
            .insert(name.to_owned(), "$ATLAS_ENV/bin/chromium".to_owned());
    }
    plan.drift
        .push("the browser is the base image's Chromium".to_owned());
    if runs(Runner::Playwright) {
        plan.env.insert(
            "PLAYWRIGHT_BROWSERS_PATH".to_owned(),
            "$ATLAS_ENV/playwright".to_owned(),
        );
    }
    packages
}

/// Commands after the install that the browsers need.
pub(super) fn fetch_browsers(workspace: &Workspace, suites: &[Suite], plan: &mut EnvironmentPlan) {
    if suites
        .iter()
        .any(|suite| suite.runner == Runner::Playwright)
    {
        let fetch = "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD= npx --no-install playwright install chromium || echo 'atlas: Playwright cannot fetch its browser'";
        plan.build.push(in_folder(&workspace.main().folder, fetch));
    }
}

/// Commands after the install that node-tap needs, where it has plugins: since 18 it puts itself together of them, and
/// fetches those that no manifest names.
pub(super) fn assemble_tap(
    tree: &Tree,
    workspace: &Workspace,
    suites: &[Suite],
    plan: &mut EnvironmentPlan,
) {
    for suite in suites.iter().filter(|suite| suite.runner == Runner::Tap) {
        let range = workspace.range(suite.package, "tap").unwrap_or_default();
        let file = join(&suite.folder, ".taprc");
        let line = tree.text(&file).and_then(|text| {
            let mut lines = (1..).zip(text.lines());
            lines
                .find(|(_, line)| line.trim_start().starts_with("plugin"))
                .map(|(at, line)| (at, line.to_owned()))
        });
        if let Some((at, text)) = line
            && major(&range).is_none_or(|major| major >= 18)
        {
            let build = "tap build || echo 'atlas: failed: tap build'";
            plan.build.push(with_path(workspace, &suite.folder, build));
            plan.prove("build", Evidence::at(file, at, text));
        }
    }
}

/// Files that make TAP of runners which print too little.
pub(super) fn adapters(suites: &[Suite], plan: &mut EnvironmentPlan) {
    if suites.iter().any(|suite| suite.runner == Runner::Jasmine) {
        toolbox::add(plan, JASMINE_TAP);
    }
    if suites.iter().any(|suite| suite.runner == Runner::Uvu) {
        toolbox::add(plan, UVU_TAP);
        toolbox::add(plan, UVU_TAP_MODULE);
    }
}

/// Programs of the packages on the path, as scripts have them.
pub(super) fn with_path(workspace: &Workspace, folder: &str, command: &str) -> String {
    let main = &workspace.main().folder;
    if folder == main {
        return in_folder(folder, &format!("{PATH_HERE}; {command}"));
    }
    let above = format!("{}/node_modules/.bin", target(main));
    in_folder(
        folder,
        &format!("export PATH=\"$PWD/node_modules/.bin:{above}:$PATH\"; {command}"),
    )
}

const PATH_HERE: &str = "export PATH=\"$PWD/node_modules/.bin:$PATH\"";

/// Build and rebuild commands for what the scripts make before the tests. What could not be made
/// with a network is not asked for again without one.
pub(super) fn preparations(
    workspace: &Workspace,
    preparations: &[Preparation],
    plan: &mut EnvironmentPlan,
) {
    for (at, preparation) in preparations.iter().enumerate() {
        let command = with_path(workspace, &preparation.folder, &preparation.command);
        let shown = shell_quote(&format!("atlas: failed: {}", preparation.command));
        if preparation.needed {
            let mark = format!("\"$ATLAS_CACHE/made-{}\"", at + 1);
            plan.build
                .push(format!("( {command} ) && touch {mark} || echo {shown}"));
            plan.rebuild
                .push(format!("test ! -e {mark} || ( {command} )"));
        } else {
            let command = format!("( {command} ) || echo {shown}");
            plan.build.push(command.clone());
            plan.rebuild.push(command);
        }
    }
}

/// The test command of all suites, which leaves one report. It ends no shell that it is put into.
pub(super) fn test_command(
    workspace: &Workspace,
    commands: &[(String, String)],
    report: Option<&ReportSpec>,
) -> String {
    if let [(folder, command)] = commands {
        return with_path(workspace, folder, command);
    }
    let mut text = "( code=0".to_owned();
    for (folder, command) in commands {
        let command = with_path(workspace, folder, command);
        let command = if folder.is_empty() {
            format!("( {command} )")
        } else {
            command
        };
        let _ = write!(text, "; {command} || code=$?");
    }
    if let Some((stem, end)) = report.and_then(|spec| spec.file.rsplit_once('.')) {
        let _ = write!(
            text,
            "; cat \"$ATLAS_OUT/{stem}\"-*.{end} >\"$ATLAS_OUT/{stem}.{end}\" 2>/dev/null"
        );
    }
    text + "; exit $code )"
}
