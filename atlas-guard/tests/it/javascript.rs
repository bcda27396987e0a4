use crate::support::{Case, case};
use atlas_guard::SignalKind::{
    Dependencies, RunnerConfig, RunnerHook, Shadowing, TestFile, TestScript,
};
use atlas_guard::SignalSeverity::{Info, Suspicious};

const PACKAGE: &str = r#"{
  "name": "shop",
  "scripts": {
    "test": "npm run lint && jest --verbose",
    "lint": "eslint .",
    "build": "tsc"
  },
  "jest": {
    "setupFiles": ["./scripts/jest-setup.js"]
  },
  "dependencies": {
    "left-pad": "1.0.0"
  }
}
"#;

fn jest() -> Case {
    case("jest", "npm test")
        .base("package.json", PACKAGE)
        .base("scripts/jest-setup.js", "global.x = 1;\n")
        .base("src/cart.js", "module.exports = 1;\n")
        .base("test/cart.test.js", "test('a', () => {});\n")
}

#[test]
fn a_dependency_added_to_package_json_stays() {
    let honest = PACKAGE.replace("1.0.0\"", "1.0.0\",\n    \"lodash\": \"^4.0.0\"");
    let honest = honest.replace(
        "\"build\": \"tsc\"",
        "\"build\": \"tsc -b\",\n    \"docs\": \"x\"",
    );
    jest()
        .write("package.json", &honest)
        .run()
        .silent("package.json");
    let attack = honest
        .replace("jest --verbose", "echo Tests: 1 passed")
        .replace("\"setupFiles\": [", "\"setupFiles\": [\"./evil.js\", ");
    jest()
        .write("package.json", &attack)
        .run()
        .rewritten("package.json", &honest);
}

#[test]
fn scripts_that_the_test_script_reaches_are_the_instances() {
    let pre = PACKAGE.replace(
        "\"scripts\": {",
        "\"scripts\": {\n    \"pretest\": \"node evil.js\",",
    );
    jest()
        .write("package.json", &pre)
        .run()
        .rewritten("package.json", PACKAGE);
    let lint = PACKAGE.replace("eslint .", "rm -r test");
    jest()
        .write("package.json", &lint)
        .run()
        .rewritten("package.json", PACKAGE);
    let gone = PACKAGE.replace("    \"lint\": \"eslint .\",\n", "");
    let run = jest().write("package.json", &gone).run();
    let left =
        String::from_utf8_lossy(&run.guarded.overlay.write["package.json"].bytes).into_owned();
    let read: serde_json::Value = serde_json::from_str(&left).unwrap();
    assert_eq!(read["scripts"]["lint"], "eslint .");
}

#[test]
fn a_member_that_base_has_not_goes() {
    let mocha = PACKAGE.replace(
        "\"name\": \"shop\",",
        "\"name\": \"shop\",\n  \"mocha\": {\"require\": \"./evil\"},",
    );
    jest()
        .write("package.json", &mocha)
        .run()
        .rewritten("package.json", PACKAGE);
    let last = PACKAGE.replace(
        "\"1.0.0\"\n  }\n",
        "\"1.0.0\"\n  },\n  \"ava\": {\"require\": []}\n",
    );
    jest()
        .write("package.json", &last)
        .run()
        .rewritten("package.json", PACKAGE);
    let escaped = PACKAGE.replace(
        "\"name\"",
        "\"\\u006docha\": {\"require\": \"./evil\"},\n  \"name\"",
    );
    jest()
        .write("package.json", &escaped)
        .run()
        .rewritten("package.json", PACKAGE);
}

#[test]
fn a_manifest_that_cannot_be_read_is_the_instances() {
    for broken in [
        "{\"scripts\": ",
        "[]",
        "",
        &PACKAGE.replace("\"jest\"", "\"jest\": {}, \"jest\""),
    ] {
        let run = jest().write("package.json", broken).run();
        run.taken("package.json", RunnerConfig);
    }
    jest()
        .remove("package.json")
        .run()
        .taken("package.json", RunnerConfig);
    jest()
        .link("package.json", "other.json")
        .run()
        .taken("package.json", RunnerConfig);
}

#[test]
fn manifests_that_are_no_ones_configuration_stay() {
    let text = "{\"scripts\": {\"test\": \"jest\"}, \"jest\": {}}";
    let run = jest()
        .base("packages/templates/app/package.json", "{}")
        .write("packages/templates/app/package.json", text)
        .write("packages/fresh/package.json", text)
        .run();
    run.silent("packages/templates/app/package.json")
        .silent("packages/fresh/package.json");
}

#[test]
fn build_scripts_of_the_test_command_are_told() {
    let base = "{\"scripts\": {\"test\": \"npm run build && mocha\", \"build\": \"tsc\"}}";
    let run = case("mocha", "npm test")
        .base("package.json", base)
        .write("package.json", &base.replace("tsc", "tsc && node copy.js"))
        .run();
    run.told("package.json", TestScript, Suspicious);
}

#[test]
fn configurations_of_runners_are_the_instances() {
    let run = jest()
        .base("babel.config.js", "module.exports = {};\n")
        .write(
            "babel.config.js",
            "module.exports = {plugins: ['./evil']};\n",
        )
        .write("jest.config.js", "module.exports = {testMatch: []};\n")
        .write(".mocharc.yml", "require: ./evil\n")
        .write(".npmrc", "script-shell=./evil\n")
        .base("lib/core/jasmine.js", "x();\n")
        .write("lib/core/jasmine.js", "y();\n")
        .write("spec/support/jasmine.mjs", "x();\n")
        .write("webpack.config.js", "module.exports = {};\n")
        .write("test/fixtures/app/jest.config.js", "module.exports = {};\n")
        .run();
    run.taken("babel.config.js", RunnerConfig)
        .taken("jest.config.js", RunnerConfig)
        .taken(".mocharc.yml", RunnerConfig)
        .taken(".npmrc", Dependencies)
        .taken("spec/support/jasmine.mjs", RunnerConfig)
        .silent("lib/core/jasmine.js")
        .silent("webpack.config.js");
    assert!(
        run.guarded
            .overlay
            .write
            .contains_key("test/fixtures/app/jest.config.js")
    );
}

#[test]
fn files_that_a_configuration_names_are_the_instances() {
    let run = jest()
        .write("scripts/jest-setup.js", "global.expect = 1;\n")
        .write("scripts/release.js", "x();\n")
        .run();
    run.taken("scripts/jest-setup.js", RunnerHook)
        .silent("scripts/release.js");
    let run = case("jest", "jest")
        .base(
            "jest.config.js",
            "module.exports = { setupFiles: ['<rootDir>/src/polyfill'] };\n",
        )
        .base("src/polyfill.js", "x();\n")
        .write("src/polyfill.js", "y();\n")
        .run();
    run.told("src/polyfill.js", RunnerHook, Suspicious);
    // The same word names an entry point of the package.
    let run = case("mocha", "mocha")
        .base("package.json", r#"{"exports": {"require": "./lib/test.js"}, "mocha": {"require": "./lib/start-tests.js"}}"#)
        .base("lib/test.js", "x();\n")
        .base("lib/start-tests.js", "x();\n")
        .write("lib/test.js", "y();\n")
        .write("lib/start-tests.js", "y();\n")
        .run();
    run.silent("lib/test.js")
        .taken("lib/start-tests.js", RunnerHook);
}

#[test]
fn only_the_test_member_of_a_vite_configuration_is_restored() {
    let base = "export default {\n  plugins: [],\n  test: { globals: true },\n}\n";
    let vitest = |text: &str| {
        let case = case("vitest", "npx vitest run");
        case.base("vite.config.ts", base)
            .write("vite.config.ts", text)
            .run()
    };
    let honest = base.replace("[]", "[vue()]");
    vitest(&honest).told("vite.config.ts", RunnerConfig, Suspicious);
    let attack = honest.replace("globals: true", "globals: true, setupFiles: ['./evil']");
    vitest(&attack).rewritten("vite.config.ts", &honest);
}

#[test]
fn a_vite_configuration_in_front_of_another_goes() {
    let run = case("vitest", "npx vitest run")
        .base("vite.config.ts", "export default {}\n")
        .write("vite.config.js", "export default {}\n")
        .run();
    run.taken("vite.config.js", RunnerConfig);
    let run = case("mocha", "npx mocha")
        .write("vite.config.js", "export default {}\n")
        .run();
    run.silent("vite.config.js");
}

#[test]
fn installed_packages_and_mocks_are_not_replaced() {
    let run = jest()
        .write("node_modules/jest/index.js", "x\n")
        .write("__mocks__/fs.js", "x\n")
        .write("test/fixtures/node_modules/a/index.js", "x\n")
        .run();
    run.taken("node_modules/jest/index.js", Dependencies)
        .taken("__mocks__/fs.js", Shadowing);
    assert!(
        run.guarded
            .overlay
            .write
            .contains_key("test/fixtures/node_modules/a/index.js")
    );
}

#[test]
fn ts_node_is_steered_by_one_member() {
    let base = "{\n  // comments are fine\n  \"compilerOptions\": { \"strict\": true, },\n}\n";
    let honest = base.replace("true", "false");
    let mocha = |text: &str| {
        case("mocha", "mocha -r ts-node/register")
            .base("tsconfig.json", base)
            .write("tsconfig.json", text)
            .run()
    };
    mocha(&honest).silent("tsconfig.json");
    let attack = honest.replace(
        "  // comments",
        "  \"ts-node\": {\"require\": [\"./evil\"]},\n  // comments",
    );
    let run = mocha(&attack);
    let left =
        String::from_utf8_lossy(&run.guarded.overlay.write["tsconfig.json"].bytes).into_owned();
    assert!(
        !left.contains("evil") && left.contains("// comments are fine"),
        "{left}"
    );
}

#[test]
fn snapshots_and_tests_of_base_stay_as_they_are() {
    let run = jest()
        .base(
            "src/__snapshots__/cart.test.js.snap",
            "exports[`a`] = `1`;\n",
        )
        .write(
            "src/__snapshots__/cart.test.js.snap",
            "exports[`a`] = `2`;\n",
        )
        .write("test/cart.test.js", "test.skip('a', () => {});\n")
        .write("test/more.test.js", "test('b', () => {});\n")
        .run();
    run.taken("src/__snapshots__/cart.test.js.snap", TestFile)
        .taken("test/cart.test.js", TestFile)
        .told("test/more.test.js", atlas_guard::SignalKind::NewTest, Info);
}
