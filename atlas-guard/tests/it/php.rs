use crate::support::{Case, case};
use atlas_guard::SignalKind::{Dependencies, RunnerConfig, RunnerHook, StartupHook};

const COMPOSER: &str = "{\n    \"require\": {\n        \"php\": \">=8\"\n    },\n    \"autoload-dev\": {\n        \"psr-4\": {\"Tests\\\\\": \"tests/\"}\n    },\n    \"scripts\": {\n        \"test\": \"phpunit\"\n    }\n}\n";

fn phpunit() -> Case {
    case("phpunit", "composer test")
        .base("composer.json", COMPOSER)
        .base(
            "phpunit.xml.dist",
            "<phpunit bootstrap=\"./ci/start.php\"/>\n",
        )
        .base("ci/start.php", "<?php\n")
        .base("src/Cart.php", "<?php\n")
        .base(
            "tests/CartTest.php",
            "<?php class CartTest extends TestCase {}\n",
        )
}

#[test]
fn configuration_and_bootstrap_are_the_instances() {
    let run = phpunit()
        .write("phpunit.xml", "<phpunit/>\n")
        .write("ci/start.php", "<?php exit(0);\n")
        .write("tests/Pest.php", "<?php\n")
        .write(".user.ini", "auto_prepend_file=evil.php\n")
        .write("vendor/phpunit/phpunit/phpunit", "x")
        .write("src/Cart.php", "<?php // fixed\n")
        .run();
    run.taken("phpunit.xml", RunnerConfig)
        .taken("ci/start.php", RunnerHook)
        .taken("tests/Pest.php", RunnerHook)
        .taken(".user.ini", StartupHook)
        .taken("vendor/phpunit/phpunit/phpunit", Dependencies)
        .silent("src/Cart.php");
}

#[test]
fn only_steering_members_of_composer_json_are_restored() {
    let honest = COMPOSER.replace("\">=8\"", "\">=8\",\n        \"ext-json\": \"*\"");
    phpunit()
        .write("composer.json", &honest)
        .run()
        .silent("composer.json");
    let attack = honest
        .replace("\"phpunit\"", "\"echo OK\"")
        .replace("\"psr-4\":", "\"files\": [\"evil.php\"], \"psr-4\":");
    phpunit()
        .write("composer.json", &attack)
        .run()
        .rewritten("composer.json", &honest);
}
