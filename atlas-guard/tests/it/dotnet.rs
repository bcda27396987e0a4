use crate::support::{Case, case};
use atlas_guard::SignalKind::{Dependencies, RunnerConfig, TestFile};

const PROPS: &str = "<Project>\n  <PropertyGroup>\n    <LangVersion>12</LangVersion>\n  </PropertyGroup>\n</Project>\n";

fn dotnet() -> Case {
    case("dotnet", "dotnet test")
        .base("Directory.Build.props", PROPS)
        .base("src/Shop/Cart.cs", "class Cart {}\n")
        .base("src/Shop.Tests/Shop.Tests.csproj", "<Project/>\n")
        .base("src/Shop.Tests/CartTests.cs", "[Fact] void A() {}\n")
}

#[test]
fn settings_of_the_runner_are_the_instances() {
    let run = dotnet()
        .write("evil.runsettings", "<RunSettings/>\n")
        .write("src/Shop.Tests/xunit.runner.json", "{}\n")
        .write("src/Shop.Tests/Directory.Build.props", "<Project/>\n")
        .write("nuget.config", "<configuration/>\n")
        .write("src/Shop/settings.json", "{}\n")
        .run();
    run.taken("evil.runsettings", RunnerConfig)
        .taken("src/Shop.Tests/xunit.runner.json", RunnerConfig)
        .taken("src/Shop.Tests/Directory.Build.props", RunnerConfig)
        .taken("nuget.config", Dependencies)
        .silent("src/Shop/settings.json");
}

#[test]
fn only_steering_elements_of_a_project_are_restored() {
    let honest = PROPS.replace("12", "13");
    dotnet()
        .write("Directory.Build.props", &honest)
        .run()
        .silent("Directory.Build.props");
    let attack = honest.replace(
        "</Project>",
        "<Target Name=\"x\" BeforeTargets=\"VSTest\"><Exec Command=\"true\"/></Target></Project>",
    );
    dotnet()
        .write("Directory.Build.props", &attack)
        .run()
        .rewritten("Directory.Build.props", &honest);
    let setting = honest.replace(
        "<LangVersion>",
        "<RunSettingsFilePath>x</RunSettingsFilePath><LangVersion>",
    );
    dotnet()
        .write("Directory.Build.props", &setting)
        .run()
        .rewritten("Directory.Build.props", &honest);
}

#[test]
fn a_project_of_tests_is_the_instances_as_a_whole() {
    let run = dotnet()
        .write(
            "src/Shop.Tests/Shop.Tests.csproj",
            "<Project><IsTestProject>false</IsTestProject></Project>\n",
        )
        .write("src/Shop.Tests/CartTests.cs", "\n")
        .run();
    run.taken("src/Shop.Tests/Shop.Tests.csproj", TestFile)
        .taken("src/Shop.Tests/CartTests.cs", TestFile);
}
