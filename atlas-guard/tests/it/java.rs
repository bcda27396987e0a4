use crate::support::{Case, case};
use atlas_guard::SignalKind::{
    RunnerConfig, RunnerHook, Shadowing, TestFile, TestScript, Toolchain,
};
use atlas_guard::SignalSeverity::Suspicious;

const POM: &str = "<project>\n  <properties>\n    <java.version>17</java.version>\n  </properties>\n  <build>\n    <plugins>\n      <plugin>\n        <artifactId>maven-surefire-plugin</artifactId>\n        <version>3.0.0</version>\n      </plugin>\n    </plugins>\n  </build>\n  <dependencies>\n  </dependencies>\n</project>\n";

fn maven() -> Case {
    case("maven", "mvn -B test")
        .base("pom.xml", POM)
        .base("src/main/java/Cart.java", "class Cart {}\n")
        .base(
            "src/test/java/CartTest.java",
            "class CartTest { @Test void a() {} }\n",
        )
}

#[test]
fn only_what_runs_tests_in_a_pom_is_restored() {
    let honest = POM.replace(
        "  <dependencies>\n",
        "  <dependencies>\n    <dependency><artifactId>guava</artifactId></dependency>\n",
    );
    maven().write("pom.xml", &honest).run().silent("pom.xml");
    let attack = honest.replace(
        "<version>3.0.0</version>",
        "<version>3.0.0</version><configuration><testFailureIgnore>true</testFailureIgnore></configuration>",
    );
    maven()
        .write("pom.xml", &attack)
        .run()
        .rewritten("pom.xml", &honest);
    let property = honest.replace("<properties>", "<properties><skipTests>true</skipTests>");
    maven()
        .write("pom.xml", &property)
        .run()
        .rewritten("pom.xml", &honest);
    // A piece that is gone cannot be put back in its place: the file is the instance's.
    let gone = honest.replace("maven-surefire-plugin", "maven-jar-plugin");
    maven()
        .write("pom.xml", &gone)
        .run()
        .taken("pom.xml", RunnerConfig);
}

#[test]
fn plugins_of_a_solution_stay() {
    let honest = POM.replace(
        "    <plugins>\n",
        "    <plugins>\n      <plugin>\n        <artifactId>maven-shade-plugin</artifactId>\n      </plugin>\n",
    );
    maven().write("pom.xml", &honest).run().silent("pom.xml");
}

#[test]
fn listeners_and_options_are_the_instances() {
    let run = maven()
        .write(".mvn/jvm.config", "-javaagent:evil.jar\n")
        .write("src/test/resources/junit-platform.properties", "x=y\n")
        .write("src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener", "Evil\n")
        .write("src/main/resources/META-INF/services/com.shop.Plugin", "Good\n")
        .write("src/test/java/CartTest.java", "class CartTest { }\n")
        .run();
    run.taken(".mvn/jvm.config", Toolchain)
        .taken("src/test/resources/junit-platform.properties", RunnerConfig)
        .taken("src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener", RunnerHook)
        .silent("src/main/resources/META-INF/services/com.shop.Plugin")
        .taken("src/test/java/CartTest.java", TestFile);
}

#[test]
fn classes_of_test_libraries_are_not_replaced() {
    let run = maven()
        .write(
            "src/test/java/org/junit/Assert.java",
            "package org.junit;\n",
        )
        .write("src/main/java/org/shop/Price.java", "package org.shop;\n")
        .run();
    run.taken("src/test/java/org/junit/Assert.java", Shadowing)
        .silent("src/main/java/org/shop/Price.java");
    let own = maven()
        .base(
            "src/main/java/org/junit/Assert.java",
            "package org.junit;\n",
        )
        .write(
            "src/main/java/org/junit/Assume.java",
            "package org.junit;\n",
        )
        .run();
    own.silent("src/main/java/org/junit/Assume.java");
}

#[test]
fn only_test_blocks_of_a_gradle_script_are_restored() {
    let base = "plugins { id 'java' }\n\ndependencies {\n    implementation 'a:b:1'\n}\n\ntest {\n    useJUnitPlatform()\n}\n";
    let gradle = |text: &str| {
        case("gradle", "./gradlew test")
            .base("build.gradle", base)
            .write("build.gradle", text)
            .run()
    };
    let honest = base.replace("'a:b:1'", "'a:b:2'\n    implementation 'c:d:1'");
    gradle(&honest).silent("build.gradle");
    let attack = honest.replace(
        "useJUnitPlatform()",
        "useJUnitPlatform()\n    ignoreFailures = true",
    );
    gradle(&attack).rewritten("build.gradle", &honest);
    let block = format!("{honest}\ntasks.withType(Test) {{\n    enabled = false\n}}\n");
    gradle(&block).rewritten("build.gradle", &format!("{honest}\n\n"));
}

#[test]
fn gradles_own_files() {
    let base = "version=1.0\norg.gradle.jvmargs=-Xmx1g\n";
    let gradle = || {
        case("gradle", "./gradlew test")
            .base("gradle.properties", base)
            .base("gradlew", "exec java\n")
    };
    let honest = base.replace("1.0", "1.1");
    gradle()
        .write("gradle.properties", &honest)
        .run()
        .silent("gradle.properties");
    let attack = format!("{honest}systemProp.evil=1\n");
    gradle()
        .write("gradle.properties", &attack)
        .run()
        .rewritten("gradle.properties", &honest);
    let run = gradle()
        .write("gradlew", "echo BUILD SUCCESSFUL\n")
        .write("buildSrc/src/main/groovy/x.groovy", "x\n")
        .run();
    run.taken("gradlew", Toolchain).told(
        "buildSrc/src/main/groovy/x.groovy",
        TestScript,
        Suspicious,
    );
}
