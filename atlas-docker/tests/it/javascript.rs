//! JavaScript and TypeScript beyond their samples.

use crate::analysis::{folder, plan, repository, verdict};
use atlas_docker::AnalysisOptions;

fn options() -> AnalysisOptions {
    AnalysisOptions::default()
}

/// The plan of a package.json, with files beside it.
fn planned(package: &str, files: &[(&str, &str)]) -> atlas_core::EnvironmentPlan {
    let mut all = vec![("package.json", package)];
    all.extend_from_slice(files);
    let folder = folder(&all);
    plan(&repository(folder.path()), &options())
}

#[test]
fn sources_tell_the_two_languages_apart() {
    let package = r#"{"scripts":{"test":"mocha"}}"#;
    for (files, language) in [
        (
            &[("src/a.ts", ""), ("tsconfig.json", "{}")][..],
            "typescript",
        ),
        (&[("src/a.ts", "")], "javascript"),
        (
            &[
                ("a.js", ""),
                ("b.js", ""),
                ("c.ts", ""),
                ("tsconfig.json", "{}"),
            ],
            "javascript",
        ),
        (
            &[
                ("lib/a.js", ""),
                ("lib/a.d.ts", ""),
                ("test/a.test.ts", ""),
                ("tsconfig.json", "{}"),
            ],
            "javascript",
        ),
        (
            &[
                ("src/a.ts", ""),
                ("b.config.js", ""),
                ("packages/x/tsconfig.build.json", "{}"),
            ],
            "typescript",
        ),
    ] {
        assert_eq!(planned(package, files).language, language, "{files:?}");
    }
}

#[test]
fn scripts_come_to_the_commands_they_mean() {
    for (script, expected) in [
        ("jest && eslint .", "jest --ci"),
        (
            "NODE_ENV=test npx -y mocha -R dot -b 'test/**'",
            "NODE_ENV=test mocha 'test/**' --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\"",
        ),
        (
            "nyc --reporter lcov mocha test",
            "mocha test --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\"",
        ),
        (
            "c8 -r html -- ava --verbose src",
            "ava src --tap --timeout=300s",
        ),
        (
            "tap --100 test/*.js --reporter=dot",
            "tap test/*.js --reporter=tap",
        ),
        ("tape test/*.js | tap-spec", "tape test/*.js"),
        (
            "node -r esm node_modules/.bin/tape test",
            "node -r esm node_modules/.bin/tape test",
        ),
        (
            "vitest --coverage.enabled --run src",
            "vitest run src --reporter=verbose",
        ),
        (
            "start-server-and-test serve http://x 'mocha e2e'",
            "mocha e2e --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\"",
        ),
        (
            "cd web && (cd app; jest src) && true",
            "cd web/app || exit 1;",
        ),
        (
            "make check",
            "mocha checks --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\"",
        ),
        ("./run.sh", "jasmine --helper="),
        ("node test/all.js", "node test/all.js"),
        (
            "nyc node test/own.js",
            "NODE_OPTIONS=\"--require $ATLAS_ENV/toolbox/mocha-two.cjs\" node test/own.js",
        ),
        ("concurrently \"npm:test:*\"", "ava --tap --timeout=300s"),
        ("npm run test:a --silent -- --serial", "ava --serial --tap"),
        (
            "FORCE_COLOR=1 node ./bin/jasmine.js",
            "NO_COLOR= FORCE_COLOR=1 node ./bin/jasmine.js --helper=",
        ),
        (
            "our-test-tool && mocha",
            "mocha --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\"",
        ),
        (
            "react-scripts test --watchAll=false",
            "react-scripts test --ci",
        ),
    ] {
        let script = serde_json::to_string(script).unwrap();
        let package = format!(r#"{{"scripts":{{"test":{script},"test:a":"ava"}}}}"#);
        let plan = planned(
            &package,
            &[
                (
                    "Makefile",
                    "check: build\n\t@mocha checks\nbuild:\n\ttouch x\n",
                ),
                ("run.sh", "#!/bin/sh\nset -e\njasmine\n"),
                ("test/all.js", "require('tape')\n"),
                (
                    "test/own.js",
                    "new (require('mocha'))({ reporter: 'dot' }).run()\n",
                ),
            ],
        );
        let (_, command) = plan.test_cmd.split_once("export PATH=").unwrap();
        let (_, command) = command.split_once("; ").unwrap();
        assert!(
            command.starts_with(expected) || plan.test_cmd.contains(expected),
            "{script}: {}",
            plan.test_cmd
        );
    }
}

#[test]
fn a_script_without_a_runner_gives_way_to_what_ci_calls() {
    let package = r#"{"scripts":{"test":"eslint .","check":"mocha lib"}}"#;
    let workflow =
        "jobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n    - run: npm run check\n";
    let plan = planned(package, &[(".github/workflows/ci.yml", workflow)]);
    assert!(
        plan.test_cmd
            .ends_with("mocha lib --reporter \"$ATLAS_ENV/toolbox/mocha-two.cjs\""),
        "{}",
        plan.test_cmd
    );
    let lines = &plan.evidence["test_cmd"];
    assert_eq!(lines[0].source, ".github/workflows/ci.yml");

    for (script, version, name) in [("poku", "1", "poku"), ("qunit -t a", "1.0.0", "qunit")] {
        let package = format!(
            r#"{{"scripts":{{"test":"{script}"}},"devDependencies":{{"{name}":"{version}"}}}}"#
        );
        let folder = folder(&[("package.json", &package)]);
        assert_eq!(
            verdict(&repository(folder.path()), &options()),
            format!("the tests run under {name}, for which this version has no parser")
        );
    }
}

#[test]
fn the_package_manager_has_the_repository_s_version() {
    for (files, package, expected) in [
        (
            &[("pnpm-lock.yaml", "lockfileVersion: 5.4\n")][..],
            "",
            " pnpm@7",
        ),
        (
            &[("pnpm-lock.yaml", "lockfileVersion: '9.0'\n")],
            "",
            " pnpm@10",
        ),
        (
            &[("pnpm-lock.yaml", ""), ("package-lock.json", "{}")],
            r#","packageManager":"pnpm@8.1.0+sha1.aa""#,
            " pnpm@8.1.0",
        ),
        (&[("yarn.lock", "# yarn lockfile v1\n")], "", " yarn@1"),
        (
            &[("yarn.lock", "\n__metadata:\n")],
            r#","engines":{"node":">=16 <18"}"#,
            "@yarnpkg/cli-dist@3",
        ),
        (
            &[
                ("yarn.lock", ""),
                (".yarnrc.yml", "yarnPath: .yarn/releases/yarn-3.2.3.cjs\n"),
            ],
            r#","packageManager":"yarn@2.4.3""#,
            "@yarnpkg/cli-dist@3.2.3",
        ),
        (
            &[("pnpm-workspace.yaml", "packages: ['a/*']\n")],
            "",
            "--config.minimumReleaseAge=",
        ),
    ] {
        let package = format!(
            r#"{{"scripts":{{"test":"mocha"}},"devDependencies":{{"mocha":"9"}}{package}}}"#
        );
        let plan = planned(&package, files);
        assert!(
            plan.paper_build()
                .iter()
                .any(|command| command.contains(expected)),
            "{expected}: {:?}",
            plan.build
        );
    }
}

#[test]
fn what_a_pull_request_adds_is_put_beside_another_manager_s_packages() {
    let package =
        r#"{"workspaces":["a/*"],"scripts":{"test":"jest"},"devDependencies":{"jest":"29"}}"#;
    let member = |more: &str| format!(r#"{{"name":"b","dependencies":{{"old":"1"{more}}}}}"#);
    let folder = folder(&[
        ("package.json", package),
        ("yarn.lock", ""),
        ("a/b/package.json", &member("")),
    ]);
    let mut repository = repository(folder.path());
    let head = member(r#","@x/n'ew":"^2.0.0","c":"workspace:*""#);
    repository
        .head_manifests
        .insert("a/b/package.json".to_owned(), head.into_bytes());
    let plan = plan(&repository, &options());
    assert_eq!(plan.prefetch.len(), 1, "{:?}", plan.prefetch);
    assert!(
        plan.prefetch[0].contains(r"-- '@x/n'\''ew@^2.0.0';"),
        "{}",
        plan.prefetch[0]
    );
    assert!(
        plan.prefetch[0].contains("a/b/node_modules/@x/n"),
        "{}",
        plan.prefetch[0]
    );
    assert!(
        plan.drift
            .iter()
            .any(|line| line.contains("@x/n'ew@^2.0.0"))
    );
}

#[test]
fn what_cannot_be_made_with_a_network_is_not_asked_for_again() {
    let plan = planned(
        r#"{"scripts":{"pretest":"rollup -c && odd-tool","test":"mocha"}}"#,
        &[],
    );
    let cache = tempfile::tempdir().unwrap();
    let run = |command: &str, path: &str| {
        std::process::Command::new("bash")
            .args(["-c", command])
            .current_dir(cache.path())
            .env("ATLAS_CACHE", cache.path())
            .env("PATH", path)
            .output()
            .unwrap()
            .status
            .success()
    };
    let usual = std::env::var("PATH").unwrap();
    let made = plan
        .build
        .iter()
        .find(|line| line.contains("rollup -c"))
        .unwrap();
    assert!(run(made, &usual), "a build that fails is told by its tests");
    assert!(run(&plan.rebuild[0], &usual));
    let tools = cache.path().join("node_modules/.bin");
    std::fs::create_dir_all(&tools).unwrap();
    let rollup = tools.join("rollup");
    std::fs::write(&rollup, "#!/bin/sh\nexit $CODE\n").unwrap();
    std::process::Command::new("chmod")
        .args(["+x"])
        .arg(&rollup)
        .status()
        .unwrap();
    assert!(run(&format!("export CODE=0; {made}"), &usual));
    assert!(!run(&format!("export CODE=1; {}", plan.rebuild[0]), &usual));
    assert!(
        run(&plan.rebuild[1], &usual),
        "nobody knows that odd-tool is needed"
    );
}

/// A script that makes what tests read lies among them, and prints no results.
#[test]
fn a_script_that_makes_fixtures_is_no_test() {
    let package = r#"{"scripts":{"test":"npm run transpile && node --test","transpile":"node ./test/fixtures/transpile.cjs"},"devDependencies":{"tape":"^5.0.0"}}"#;
    let files = [
        ("test/fixtures/transpile.cjs", "require('typescript')\n"),
        ("test/a.test.js", "require('node:test')\n"),
    ];
    let plan = planned(package, &files);
    assert_eq!(plan.log_parser_name, "nodetest");
    let built = plan
        .build
        .iter()
        .any(|command| command.contains("transpile.cjs"));
    assert!(built, "{:?}", plan.build);
}

/// What only makes room builds none of the packages that tests import.
#[test]
fn a_script_that_removes_files_is_no_build() {
    let package = r#"{"workspaces":["a","b"],"scripts":{"build":"tsc --build","cleanup":"rm -rf junit","test":"npm run cleanup && npm run test -w a"}}"#;
    let user = r#"{"name":"a","dependencies":{"b":"*"},"scripts":{"test":"mocha lib"},"devDependencies":{"mocha":"10"}}"#;
    let files = [
        ("a/package.json", user),
        ("b/package.json", r#"{"name":"b","main":"./dist/index.js"}"#),
        ("b/index.ts", "export const b = 1\n"),
    ];
    for (cleanup, is_built) in [("rm -rf junit", true), ("tsc -p b", false)] {
        let plan = planned(&package.replace("rm -rf junit", cleanup), &files);
        let built = plan.build.iter().any(|line| line.contains("npm run build"));
        assert_eq!(built, is_built, "{cleanup}: {:?}", plan.build);
    }
}

#[test]
fn runners_leave_a_report_beside_the_console() {
    for (script, version, expected, report) in [
        (
            "ava --verbose",
            "ava\": \"^6.0.0",
            "NODE_OPTIONS=\"--require $ATLAS_ENV/toolbox/ava-two.cjs\" ava --tap --timeout=300s",
            Some("ava.xml"),
        ),
        (
            "NODE_OPTIONS=--no-warnings ava --serial",
            "ava\": \"^3.0.0",
            "NODE_OPTIONS='--no-warnings '\"--require $ATLAS_ENV/toolbox/ava-two.cjs\" ava --serial --tap",
            Some("ava.xml"),
        ),
        (
            "jasmine",
            "jasmine\": \"5",
            "jasmine --helper=\"$ATLAS_ENV/toolbox/jasmine-tap.cjs\" --random=false",
            Some("jasmine.xml"),
        ),
        ("uvu test", "uvu\": \"0.5", "uvu-tap.mjs", Some("uvu.xml")),
        (
            "lab -a @hapi/code -t 100 -L -Y -m 5000 test",
            "@hapi/lab\": \"26",
            "lab -a @hapi/code -m 5000 test -v -r console -o stdout -r junit -o \"$ATLAS_OUT/lab.xml\"",
            Some("lab.xml"),
        ),
        (
            "qunit --require esm -r failonly test",
            "qunit\": \"2.6.0",
            "qunit --require esm test --reporter tap",
            None,
        ),
        (
            "standard && brittle-node -c test/*.js && brittle-bare test/*.js",
            "brittle\": \"3",
            "brittle-node test/*.js",
            None,
        ),
        (
            "bun test --coverage --bail=3 --timeout 9 test",
            "x\": \"1",
            "bun test --timeout 9 test --reporter=junit --reporter-outfile=\"$ATLAS_OUT/bun.xml\" 2>&1",
            Some("bun.xml"),
        ),
        (
            "playwright test -x --reporter=dot",
            "@playwright/test\": \"1.40",
            "playwright test --reporter=list,\"$ATLAS_ENV/toolbox/playwright-two.cjs\" --workers=2",
            Some("playwright.xml"),
        ),
        (
            "borp -C",
            "borp\": \"^0.20.0",
            "borp --reporter spec --reporter \"tap:$ATLAS_OUT/report.tap\"",
            Some("report.tap"),
        ),
        (
            "borp",
            "borp\": \"^1.0.0",
            "--reporter \"tap:",
            Some("report.tap"),
        ),
        ("borp", "borp\": \"0.5.0", "borp --reporter spec", None),
        (
            "ava && mocha",
            "ava\": \"^6.0.0",
            "ava --tap --timeout=300s",
            None,
        ),
    ] {
        let package =
            format!(r#"{{"scripts":{{"test":"{script}"}},"devDependencies":{{"{version}"}}}}"#);
        let plan = planned(&package, &[("test/a.js", "")]);
        assert!(
            plan.test_cmd.contains(expected),
            "{script}: {}",
            plan.test_cmd
        );
        let file = plan.report.as_ref().map(|spec| spec.file.as_str());
        assert_eq!(file, report, "{script} {version}: {}", plan.test_cmd);
        assert_eq!(
            plan.test_cmd.contains("report.tap"),
            file == Some("report.tap")
        );
        // What a command names is laid out with it.
        for word in plan.test_cmd.split("/toolbox/").skip(1) {
            let name = word.split('"').next().unwrap();
            assert!(
                plan.tools.iter().any(|tool| tool == name),
                "{name}: {:?}",
                plan.tools
            );
        }
    }
}

/// node-tap from 18 on fetches the plugins that its settings name, and no test run has a network.
#[test]
fn node_tap_is_put_together_where_it_has_plugins() {
    let taprc = (".taprc", "# vim: yaml\nplugin:\n  - \"@tapjs/clock\"\n");
    for (version, files, is_built) in [
        ("^21.7.2", &[taprc][..], true),
        ("^21.7.2", &[(".taprc", "bail: true\n")][..], false),
        ("^16.3.0", &[taprc][..], false),
    ] {
        let package =
            format!(r#"{{"scripts":{{"test":"tap"}},"devDependencies":{{"tap":"{version}"}}}}"#);
        let plan = planned(&package, files);
        let mut commands = plan.build.iter();
        let found = commands.any(|command| command.contains("tap build"));
        assert_eq!(found, is_built, "{version}: {:?}", plan.build);
    }
}

/// Two runtimes over the same files would name each test twice.
#[test]
fn bun_is_taken_where_nothing_else_runs_in_the_folder() {
    for (script, command, parser) in [
        ("vitest run && bun test", "vitest run", "vitest"),
        (
            "playwright test && bun --bun test a",
            "bun --bun test a",
            "bun",
        ),
    ] {
        let package = format!(
            r#"{{"packageManager":"bun@1.3.1","scripts":{{"test":"{script}"}},"devDependencies":{{"vitest":"3","@playwright/test":"1"}}}}"#
        );
        let plan = planned(&package, &[("a.test.js", "")]);
        assert!(plan.test_cmd.contains(command), "{}", plan.test_cmd);
        assert_eq!(plan.log_parser_name, parser);
        let install = plan
            .build
            .iter()
            .any(|line| line.contains("bun install --no-save"));
        assert!(install && plan.setup.iter().any(|line| line.ends_with(" bun@1.3.1")));
    }
}

/// As nodemon runs its files, each in a process of its own.
#[test]
fn a_loop_of_the_shell_stays_one() {
    let script = "for FILE in test/**/*.test.js; do echo $FILE; TEST=1 mocha --exit --bail $FILE; \
                  if [ $? -ne 0 ]; then exit 1; fi; sleep 1; done";
    let package = format!(
        r#"{{"scripts":{{"test":"for d in a 'b c'; do tsc -p ${{d}}; done; {script} && node check.js"}},"devDependencies":{{"mocha":"2"}}}}"#
    );
    let plan = planned(&package, &[("test/cli/a.test.js", ""), ("check.js", "")]);
    let test = "( code=0; for FILE in test/**/*.test.js; do TEST=1 mocha --exit \"$FILE\" --reporter spec || code=$?; done; exit $code )";
    assert!(plan.test_cmd.ends_with(test), "{}", plan.test_cmd);
    assert_eq!(plan.report, None);
    let build = "( code=0; for d in a 'b c'; do tsc -p \"${d}\" || test $? = 2 || code=$?; done; exit $code )";
    let is_made = plan.build.iter().any(|command| command.contains(build));
    assert!(is_made, "{:?}", plan.build);
}

/// What shares a package with the rest of the tree gets the same copy of it: the manager installs by head's lockfile.
#[test]
fn other_managers_install_by_the_pull_request_s_lockfile() {
    let package = |version: &str| {
        format!(r#"{{"scripts":{{"test":"node --test"}},"dependencies":{{"b":"{version}"}}}}"#)
    };
    for (lock, text, call) in [
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\n",
            "bash -c 'pnpm install --frozen-lockfile ",
        ),
        (
            "yarn.lock",
            "# yarn lockfile v1\n",
            "yarn install --non-interactive --ignore-engines --frozen-lockfile",
        ),
    ] {
        let folder = folder(&[
            ("package.json", &package("1")),
            (lock, text),
            ("a.test.js", "require('node:test')('a', () => {});\n"),
        ]);
        let mut repository = repository(folder.path());
        for (path, text) in [
            ("package.json", package("2")),
            (lock, format!("{text}# b is another\n")),
        ] {
            repository
                .head_manifests
                .insert(path.to_owned(), text.into_bytes());
        }
        let plan = plan(&repository, &options());
        let [command] = &plan.prefetch[..] else {
            panic!("{:?}", plan.prefetch)
        };
        let (locked, beside) = command.split_once(" || {\n").unwrap();
        let begin =
            format!("bash \"$ATLAS_ENV/toolbox/head-lock\" '' package.json {lock} -- {call}");
        assert!(locked.starts_with(&begin), "{locked}");
        assert!(beside.contains("-- b@2"), "{beside}");
        assert!(plan.tools.iter().any(|tool| tool == "head-lock"));
    }
}

#[test]
fn what_nyc_loads_is_loaded_without_it() {
    for (rest, files, options) in [
        (
            r#","nyc":{"require":["@babel/register"]}"#,
            &[][..],
            "'--require @babel/register'",
        ),
        (
            "",
            &[(".nycrc", r#"{"require":["ts-node/register","./setup.js"]}"#)],
            "'--require ts-node/register --require ./setup.js'",
        ),
    ] {
        let package = format!(
            r#"{{"scripts":{{"test":"nyc npm run own","own":"mocha test"}},"devDependencies":{{"mocha":"10","nyc":"15"}}{rest}}}"#
        );
        let command = planned(&package, files).test_cmd;
        let expected = format!("NODE_OPTIONS={options} mocha test ");
        assert!(command.contains(&expected), "{command}");
    }
    let package = r#"{"scripts":{"test":"NODE_OPTIONS=--no-warnings nyc --require esm mocha"},
        "devDependencies":{"mocha":"10","nyc":"15"}}"#;
    let command = planned(package, &[]).test_cmd;
    assert!(
        command.contains("NODE_OPTIONS='--no-warnings --require esm' mocha "),
        "{command}"
    );
}

#[test]
fn bnt_is_node_with_the_files_that_end_like_tests() {
    let package = r#"{"scripts":{"test:coverage":"bnt --coverage 100 --coverage-exclude 'test/*'",
        "test:lint":"oxlint","test":"pnpm run /^test:/"},"devDependencies":{"better-node-test":"^0.8.4"}}"#;
    let js = planned(package, &[("test/a.test.js", "")]);
    assert_eq!(js.log_parser_name, "nodetest");
    let command = "NODE_ENV=test node --test $(node --help";
    assert!(js.test_cmd.contains(command), "{}", js.test_cmd);
    let files = " '**/*.{test,spec}.{js,ts}' ";
    assert!(js.test_cmd.contains(files), "{}", js.test_cmd);
    assert!(!js.test_cmd.contains("strip-types"));
    let ts = planned(package, &[("test/a.test.ts", "")]).test_cmd;
    assert!(ts.contains(" --experimental-strip-types "), "{ts}");
}
