//! A project of .NET Framework on Debian's Mono, in three states. Skipped with a word unless `ATLAS_TEST_DOCKER=1`.

use crate::docker::{docker, on_docker, wanted};
use crate::support::{Place, ids};

const COUNTER: &str = "namespace Tally\n{\n    public class Counter\n    {\n        int total;\n        \
                       public int Total { get { return total; } }\n        BODY\n    }\n}\n";

const TESTS: &str = "using NUnit.Framework;\n\nnamespace Tally.Tests\n{\n    [TestFixture]\n    \
                     public class CounterTests\n    {\n        [Test]\n        \
                     public void BeginsAtZero() { Assert.AreEqual(0, new Counter().Total); }\nBODY    }\n}\n";

const ADDS: &str = "        [Test]\n        public void AddsUp()\n        {\n            \
                    var counter = new Counter();\n            counter.Add(2);\n            counter.Add(3);\n            \
                    Assert.AreEqual(5, counter.Total);\n        }\n";

const RESETS: &str = "        [Test]\n        public void Resets()\n        {\n            \
                      var counter = new Counter();\n            counter.Add(2);\n            counter.Reset();\n            \
                      Assert.AreEqual(0, counter.Total);\n        }\n";

const FORGETS: &str = "public void Add(int number) { total = number; }";
const SUMS: &str = "public void Add(int number) { total += number; }";

/// A bug fix, whose new test compiles without the fix; then a feature, whose new test does not.
#[test]
fn a_project_of_net_framework_in_three_states() {
    if !wanted() {
        return;
    }
    let counter = |body: &str| COUNTER.replace("BODY", body);
    let tests = |body: &str| TESTS.replace("BODY", body);
    let resets = format!("{SUMS}\n        public void Reset() {{ total = 0; }}");
    let (first, second, third) = (counter(FORGETS), counter(SUMS), counter(&resets));
    let (none, adds, both) = (tests(""), tests(ADDS), tests(&format!("{ADDS}{RESETS}")));
    let place = Place::new();
    let base: &[(&str, &str)] = &[
        ("src/Tally.csproj", include_str!("mono/Tally.csproj")),
        ("src/Counter.cs", &first),
        (
            "test/Tally.Tests.csproj",
            include_str!("mono/Tally.Tests.csproj"),
        ),
        ("test/CounterTests.cs", &none),
    ];
    let fix: &[(&str, &str)] = &[("src/Counter.cs", &second), ("test/CounterTests.cs", &adds)];
    let feature: &[(&str, &str)] = &[("src/Counter.cs", &third), ("test/CounterTests.cs", &both)];
    for (name, commits, expected, kind) in [
        (
            "fix",
            &[base, fix][..],
            "Tally.Tests.CounterTests.AddsUp",
            "bug_fix",
        ),
        (
            "feature",
            &[base, fix, feature][..],
            "Tally.Tests.CounterTests.Resets",
            "feature_request",
        ),
    ] {
        let repo = place.repository(name, commits);
        let id = format!("me__tally-{name}");
        let done = place.run(&on_docker(repo.to_str().unwrap(), &["--instance-id", &id]));
        assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
        let made = done.json();
        assert_eq!(ids(&made, "FAIL_TO_PASS"), [expected], "{made}");
        let kept = ids(&made, "PASS_TO_PASS");
        assert!(
            kept.contains(&"Tally.Tests.CounterTests.BeginsAtZero".to_owned()),
            "{kept:?}"
        );
        let oracle = std::fs::read_to_string(place.path(&format!("out/{id}/oracle.json"))).unwrap();
        assert!(oracle.contains(kind), "{oracle}");
        let rows = std::fs::read_to_string(place.path("out/dataset.jsonl")).unwrap();
        let last: serde_json::Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
        docker(&["rmi", "--force", last["image"].as_str().unwrap()]);
    }
}
