//! What makes a test fail, by language and framework.

/// The text that a failure prints.
pub(super) const MESSAGE: &str = "injected failure";

/// Whether a statement is an assertion, as far as its words tell.
pub(super) fn is_assertion(statement: &str) -> bool {
    const WORDS: [&str; 18] = [
        "assert",
        "Assert",
        "ASSERT",
        "expect",
        "EXPECT_",
        "CHECK",
        "REQUIRE",
        "BOOST_",
        "verify",
        "should",
        ".Error(",
        ".Errorf(",
        ".Fatal(",
        ".Fatalf(",
        "require.",
        "must_equal",
        "is_expected",
        "raises(",
    ];
    WORDS.iter().any(|word| statement.contains(word))
}

/// Whether a statement may end a test early, as far as its words tell.
pub(super) fn may_end(statement: &str) -> bool {
    let mut words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| {
        matches!(word, "return" | "exit" | "pending" | "assume" | "Assume")
            || word.to_ascii_lowercase().starts_with("skip")
    })
}

/// A statement of C or C++ that fails as the assertion of that name does; `arguments` is how many
/// it has.
pub(super) fn of_macro(name: &str, arguments: usize) -> Option<String> {
    let with_message = |call: &str| Some(format!("{call}(\"{MESSAGE}\");"));
    let plain = name.to_ascii_lowercase();
    let cmocka = [
        "assert_true",
        "assert_false",
        "assert_null",
        "assert_non_null",
        "assert_int_equal",
        "assert_int_not_equal",
        "assert_string_equal",
        "assert_string_not_equal",
        "assert_ptr_equal",
        "assert_ptr_not_equal",
        "assert_memory_equal",
        "assert_memory_not_equal",
        "assert_in_range",
        "assert_not_in_range",
        "assert_in_set",
        "assert_return_code",
        "assert_float_equal",
    ];
    match name {
        _ if name.starts_with("TEST_ASSERT") => with_message("TEST_FAIL_MESSAGE"),
        _ if name.starts_with("ck_") || name == "fail_unless" || name == "fail_if" => {
            with_message("ck_abort_msg")
        }
        _ if name.starts_with("CU_ASSERT") => with_message("CU_FAIL"),
        _ if name.starts_with("CPPUNIT_") => with_message("CPPUNIT_FAIL"),
        _ if name.starts_with("BOOST_") => with_message("BOOST_ERROR"),
        _ if name.starts_with("cr_") => Some("cr_assert(0);".to_owned()),
        _ if name.starts_with("EXPECT_") || name.starts_with("ASSERT_") && arguments > 0 => {
            Some("ADD_FAILURE();".to_owned())
        }
        _ if name.starts_with("CHECK") || name.starts_with("REQUIRE") => {
            Some("CHECK(false);".to_owned())
        }
        _ if cmocka.contains(&name) => with_message("fail_msg"),
        _ if !["assert", "check", "expect", "require", "verify"]
            .iter()
            .any(|word| plain.contains(word)) =>
        {
            None
        }
        _ if arguments == 1 => {
            let fails = ["false", "null", "zero", "not"]
                .iter()
                .any(|word| plain.contains(word));
            Some(format!("{name}({});", u8::from(fails)))
        }
        _ if arguments == 2 && (plain.contains("eq") || plain.contains("equal")) => {
            let differ = ["not", "neq", "ne"]
                .iter()
                .any(|word| plain.split('_').any(|part| part == *word));
            Some(format!("{name}(0, {});", u8::from(!differ)))
        }
        _ => None,
    }
}
