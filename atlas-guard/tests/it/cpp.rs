use crate::support::{Case, case};
use atlas_guard::SignalKind::{Dependencies, RunnerConfig, Shadowing, TestFile};

const CMAKE: &str = "project(shop)\nadd_library(shop src/cart.cpp)\nenable_testing()\nadd_test(NAME cart COMMAND cart_test)\n";

fn ctest() -> Case {
    case("ctest", "cd build && ctest -V")
        .base("CMakeLists.txt", CMAKE)
        .base("src/cart.cpp", "int one() { return 1; }\n")
        .base("test/cart_test.cpp", "TEST(Cart, One) {}\n")
}

#[test]
fn only_calls_about_tests_are_restored() {
    let honest = CMAKE.replace("src/cart.cpp", "src/cart.cpp src/price.cpp");
    ctest()
        .write("CMakeLists.txt", &honest)
        .run()
        .silent("CMakeLists.txt");
    let attack = honest.replace("COMMAND cart_test", "COMMAND true");
    ctest()
        .write("CMakeLists.txt", &attack)
        .run()
        .rewritten("CMakeLists.txt", &honest);
    let turned = format!("{honest}set_tests_properties(cart PROPERTIES WILL_FAIL TRUE)\n");
    ctest()
        .write("CMakeLists.txt", &turned)
        .run()
        .rewritten("CMakeLists.txt", &format!("{honest}\n"));
}

#[test]
fn tests_of_its_own_may_be_added() {
    let honest = format!(
        "{CMAKE}add_test(NAME price COMMAND price_test)\n# add_test(NAME cart COMMAND true)\n"
    );
    ctest()
        .write("CMakeLists.txt", &honest)
        .run()
        .silent("CMakeLists.txt");
}

#[test]
fn options_of_ctest_and_carried_frameworks_are_the_instances() {
    let run = ctest()
        .base(
            "third_party/catch2/catch.hpp",
            "#define CHECK(x) check(x)\n",
        )
        .write("third_party/catch2/catch.hpp", "#define CHECK(x) true\n")
        .write("include/gtest/gtest.h", "#define EXPECT_EQ(a, b)\n")
        .write("include/shop/price.h", "int price();\n")
        .write("CTestCustom.cmake", "set(CTEST_CUSTOM_TESTS_IGNORE cart)\n")
        .write("test/cart_test.cpp", "\n")
        .write("src/catch.cpp", "int catch_it() { return 1; }\n")
        .run();
    run.taken("third_party/catch2/catch.hpp", Dependencies)
        .taken("CTestCustom.cmake", RunnerConfig)
        .taken("test/cart_test.cpp", TestFile)
        .taken("include/gtest/gtest.h", Shadowing)
        .silent("include/shop/price.h")
        .silent("src/catch.cpp");
}
