//! Scripts of the repository behind programs of the environment.

use crate::support::case;
use atlas_guard::SignalKind::TestScript;

/// A change of the script that a command comes to is taken back.
#[track_caller]
fn check(command: &'static str, script: &str) {
    let run = case("unittest", command)
        .base(script, "honest\n")
        .base("calc.py", "x = 1\n")
        .write(script, "print('OK')\n")
        .write("calc.py", "x = 2\n")
        .run();
    let told = &run.guarded.signals;
    assert!(
        told.iter()
            .any(|one| one.path == script && one.kind == TestScript),
        "`{command}`: {told:?}"
    );
    run.taken(script, TestScript).silent("calc.py");
}

#[test]
fn behind_limits_and_priorities() {
    for command in [
        "timeout 60 ./run_tests",
        "timeout -k 5 60 ./run_tests",
        "timeout -k5 -s KILL 60s ./run_tests",
        "timeout --kill-after=5 --signal TERM 1m ./run_tests",
        "timeout --foreground -- 60 ./run_tests",
        "nice ./run_tests",
        "nice -n 5 ./run_tests",
        "nice -n -5 ./run_tests",
        "nice -5 ./run_tests",
        "nice --adjustment 5 ./run_tests",
        "ionice -c 2 -n 7 nice ./run_tests",
        "taskset -c 0-3 ./run_tests",
        "chrt -r 50 ./run_tests",
        "stdbuf -oL -eL ./run_tests",
        "stdbuf -o L -e 0 ./run_tests",
        "stdbuf --output=L --error 0 ./run_tests",
        "time -f '%e s' -o times ./run_tests",
        "setsid -w nohup ./run_tests",
        "flock -w 10 /tmp/lock ./run_tests",
        "flock /tmp/lock -c './run_tests -v'",
        "sudo -E -u ci ./run_tests",
        "su - ci -c './run_tests'",
        "script -q -e -c './run_tests' /dev/null",
        "xargs -n 1 ./run_tests < list",
        "retry -t 3 -- ./run_tests",
        "strace -f -o out ./run_tests",
    ] {
        check(command, "run_tests");
    }
}

#[test]
fn behind_a_screen_or_a_bus() {
    for command in [
        "xvfb-run ./run_tests",
        "xvfb-run -a -s \"-screen 0 1x1x8\" ./run_tests",
        "xvfb-run -as '+extension GLX' ./run_tests",
        "xvfb-run --auto-servernum --server-args='-screen 0 1024x768x24' ./run_tests",
        "xvfb-run -e /dev/stdout -n 99 -w 0 --server-args \"-screen 0 1x1x8\" ./run_tests",
        "xvfb-maybe -a -- ./run_tests",
        "dbus-run-session ./run_tests",
        "dbus-run-session --config-file /etc/bus.conf -- ./run_tests",
        "dbus-launch --exit-with-session ./run_tests",
        "DISPLAY=:1 dbus-run-session -- xvfb-run -e err.log timeout -s INT 60 ./run_tests",
    ] {
        check(command, "run_tests");
    }
}

#[test]
fn behind_variables_and_shells() {
    for command in [
        "A=b ./run_tests",
        "env A=b ./run_tests",
        "env -i -u HOME -uUSER A=b C='d e' ./run_tests",
        "env --unset HOME --ignore-environment ./run_tests",
        "env - A=b ./run_tests",
        "env -S 'A=b ./run_tests -v'",
        "env -C . ./run_tests",
        "sh -c './run_tests'",
        "sh -ec 'exec ./run_tests'",
        "sh -c -- './run_tests'",
        "bash -euo pipefail -c \"cd . && ./run_tests\"",
        "bash --login -O extglob -x ./run_tests",
        "bash -o pipefail run_tests",
        "eval \"timeout 5 ./run_tests\"",
        "if true; then ./run_tests; fi",
        "while ! ./run_tests; do sleep 1; done",
        "command -p exec -a name ./run_tests",
        "(cd other && make); ./run_tests",
        "echo \"$(./run_tests)\"",
        "prove $(ls t) && ./run_tests",
        "\"$ATLAS_REPO/run_tests\"",
        "cd /testbed/other; \"${ATLAS_REPO}/run_tests\"",
        "/testbed/run_tests",
        "\"$PWD/run_tests\"",
    ] {
        check(command, "run_tests");
    }
    for command in [
        "cd ci && sh -c 'nice ./test.sh'",
        "env --chdir=ci ./test.sh",
        "env -C ci sh -c ./test.sh",
        "unknown-helper --option ci/test.sh",
        "sh -c 'cd ci; timeout 5 bash test.sh'",
    ] {
        check(command, "ci/test.sh");
    }
}

#[test]
fn behind_environments_of_languages() {
    for command in [
        "bundle exec ruby test/run.rb",
        "bundle exec --keep-file-descriptors ruby -I lib -r set -w test/run.rb",
        "bundle _2.4.1_ exec ruby -Ilib test/run.rb",
        "nice -n 5 bundle exec ./test/run.rb",
        "rbenv exec ruby -E UTF-8 test/run.rb",
    ] {
        check(command, "test/run.rb");
    }
    for command in [
        "poetry run ./runtests.py",
        "poetry -C . run python runtests.py",
        "poetry run python -W ignore -X dev runtests.py",
        "uv run runtests.py",
        "uv run --with pytest --extra test python runtests.py",
        "uv --quiet run --frozen -p 3.12 -- python -u runtests.py",
        "pipenv run python runtests.py",
        "pdm run -p . python runtests.py",
        "hatch -e test run python runtests.py",
        "conda run -n test --no-capture-output python runtests.py",
        "tox exec -e py312 -- python runtests.py",
        "mise exec python@3.12 -- python runtests.py",
        "direnv exec . python runtests.py",
        "python -m coverage run runtests.py",
        "python3.12 -Wd -m coverage run --source calc --rcfile .rc -a runtests.py",
        "coverage run --omit 'a,b' --branch runtests.py",
        "python -mcoverage run runtests.py",
        "python -m cProfile -o out -s time runtests.py",
        "python -m trace --count -C out runtests.py",
        "uv run -m coverage run --concurrency thread runtests.py",
        "memray run -o out runtests.py",
        "python \"$ATLAS_ENV/toolbox/named.py\" runtests.py -v",
        "python \"$ATLAS_ENV/toolbox/unittest-two.py\" \"$ATLAS_ENV/toolbox/named.py\" runtests.py -v",
        "python \"$ATLAS_ENV/toolbox/unittest-two.py\" -m coverage run runtests.py",
        "python /opt/helper.py --screen runtests.py",
        "dotenv -f .env run -- python runtests.py",
        "xvfb-run -a poetry run coverage run --source calc runtests.py",
    ] {
        check(command, "runtests.py");
    }
    for command in [
        "npx ./test/run.js",
        "npx -p tsx -y tsx test/run.js",
        "npx --package=tsx -c 'tsx test/run.js'",
        "npm exec --package tsx -- tsx test/run.js",
        "pnpm --filter . exec node test/run.js",
        "yarn --cwd . node test/run.js",
        "yarn exec node test/run.js",
        "node -r ts-node/register --import tsx --conditions test test/run.js",
        "cross-env A=b node test/run.js",
        "cross-env-shell \"A=b node test/run.js\"",
        "nyc -r lcov --exclude x node test/run.js",
        "c8 --reporter text node test/run.js",
        "dotenv -e .env.ci -- node test/run.js",
        "env-cmd -f .env.ci node test/run.js",
        "bun run test/run.js",
        "deno run -A test/run.js",
        "concurrently -n a,b \"node server.js\" \"node test/run.js\"",
        "node --test $(node --help | grep x) --require ./a test/run.js",
    ] {
        check(command, "test/run.js");
    }
    for command in [
        "php -d memory_limit=-1 tests/run.php",
        "php -f tests/run.php",
        "perl -I lib tests/run.php",
        "perl -MTest::Harness -w tests/run.php",
    ] {
        check(command, "tests/run.php");
    }
}

#[test]
fn folders_of_subshells_end_with_them() {
    let command = "( cd a && ./test.sh ) || failed=1; ( cd b && sh test.sh )";
    check(command, "a/test.sh");
    check(command, "b/test.sh");
}

#[test]
fn make_behind_a_helper_of_the_environment() {
    let base = "all: shop\n\ntest: all\n\t./unit\n";
    let attack = base.replace("./unit", "echo PASS");
    for (command, path) in [
        ("bash \"$ATLAS_ENV/toolbox/make.sh\" own . test", "Makefile"),
        (
            "bash \"$ATLAS_ENV/toolbox/make.sh\" split suite test CC=gcc",
            "suite/Makefile",
        ),
        ("timeout -k 5 60 make -C suite test", "suite/Makefile"),
    ] {
        let run = case("handmade", command)
            .base(path, base)
            .base("src/a.c", "int a;\n")
            .write(path, &attack)
            .write("src/a.c", "int b;\n")
            .run();
        run.rewritten(path, base).silent("src/a.c");
    }
}

#[test]
fn what_an_option_takes_is_no_script() {
    for command in [
        "xvfb-run -e tests/errors.txt ./run_tests",
        "coverage run --source tests/errors.txt run_tests",
        "ruby -e 'puts 1' tests/errors.txt",
        "python -c 'import calc' tests/errors.txt",
        "node -p '1' tests/errors.txt",
        "timeout 60 prove tests/errors.txt",
    ] {
        let run = case("tap", command)
            .base("tests/errors.txt", "a\n")
            .write("tests/errors.txt", "b\n")
            .run();
        let told = run.signal("tests/errors.txt");
        assert_ne!(told.kind, TestScript, "{command}");
    }
}
