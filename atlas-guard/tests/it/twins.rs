use atlas_guard::{Twin, twins};

/// The only twin's name and the text around it, with no id preferred.
fn one(file: &str, text: &str) -> (String, String, String) {
    let made = twins(file, text.as_bytes(), "seed", &[]).unwrap();
    assert_eq!(made.pairs.len(), 1, "{file}");
    let pair = made.pairs.into_iter().next().unwrap();
    let new = String::from_utf8(made.content).unwrap();
    (pair.of, pair.must_fail, new)
}

#[test]
fn a_test_stands_twice_with_another_value() {
    for (file, text, name, kept, changed) in [
        (
            "tests/test_a.py",
            "import a\n\n\n@mark(\n    1,\n)\ndef test_sum_of_two():\n    x = 1\n    assert a.add(x) == 180\n",
            "test_sum_of_two",
            "    x = 1\n",
            "a.add(x) == 18",
        ),
        (
            "tests/test_a.py",
            "class A(TestCase):\n    def test_name(self):\n        self.assertEqual(a.name(), \"Ann B.\")\n\n    def helper(self):\n        pass\n",
            "test_name",
            "    def ",
            "self.assertEqual(a.name(), \"Ann ",
        ),
        (
            "test/a_test.rb",
            "class ATest < Minitest::Test\n  def test_gap_in_row\n    assert_equal 2, A.gap([1, 3])\n  end\nend\n",
            "test_gap_in_row",
            "\n  end\n",
            "A.gap([1, 3])",
        ),
        (
            "spec/a_spec.rb",
            "RSpec.describe A do\n  it \"finds the gap\" do\n    expect(A.gap([1])).to eq([2, 3])\n  end\nend\n",
            "finds the gap",
            "\" do\n",
            "to eq([",
        ),
        (
            "tests/ATest.php",
            "class ATest extends TestCase\n{\n    public function testGapInRow(): void\n    {\n        $this->assertSame('two', gap([1, 3]));\n    }\n}\n",
            "testGapInRow",
            "(): void",
            "gap([1, 3])",
        ),
        (
            "a.test.js",
            "describe('a', () => {\n  it('finds gaps', () => {\n    expect(gap([1, 3])).toEqual(2);\n  });\n});\n",
            "finds gaps",
            "', () => {\n    ",
            "expect(gap([1, 3])).toEqual(",
        ),
        (
            "test/a_test.cpp",
            "TEST(Gap, FindsGaps) {\n  EXPECT_EQ(gap({1, 3}), 2u);\n}\n",
            "FindsGaps",
            ") {\n  ",
            "EXPECT_EQ(gap({1, 3}), ",
        ),
        (
            "test/a_test.cpp",
            "TEST_CASE(\"finds gaps\", \"[gap]\")\n{\n  REQUIRE(gap({1, 3}) == \"two\");\n}\n",
            "finds gaps",
            "\", \"[gap]\")\n{\n  ",
            "REQUIRE(gap({1, 3}) == \"tw",
        ),
        (
            "tests/a.rs",
            "#[test]\nfn finds_gaps() {\n    assert_eq!(gap(&[1, 3]), 2);\n}\n",
            "finds_gaps",
            "#[test]\n",
            "assert_eq!(gap(&[1, 3]), ",
        ),
    ] {
        let (of, twin, new) = one(file, text);
        assert_eq!(of, name);
        assert!(!text.contains(&twin) && new.contains(&twin), "{new}");
        for (part, times) in [(kept, 2), (changed, 2)] {
            let found = new.matches(part).count();
            assert!(found >= times, "{part:?} in {new}");
        }
        let old: Vec<&str> = text.lines().collect();
        assert!(
            new.lines().filter(|line| old.contains(line)).count() >= old.len(),
            "{new}"
        );
        assert!(
            new.lines()
                .any(|line| !old.contains(&line) && !line.contains(&twin)),
            "{new}"
        );
    }
}

#[test]
fn tests_that_define_the_task_come_first() {
    let tests = ["a", "b", "c", "d", "e", "f"]
        .map(|name| format!("def test_{name}():\n    assert f('{name}') == 1\n\n\n"));
    let text = tests.concat();
    let wanted = ["t.py::test_e".to_owned(), "t.py::test_f[x-1]".to_owned()];
    let made = twins("t.py", text.as_bytes(), "seed", &wanted).unwrap();
    let of: Vec<&str> = made.pairs.iter().map(|pair| pair.of.as_str()).collect();
    assert_eq!(of, ["test_e", "test_f", "test_a"]);
}

/// An attack that looks for a test by a word of its name must find the twin, whatever the dice say: that once in a
/// dozen the word itself was replaced let one through.
#[test]
fn a_twin_has_all_the_words_of_its_test() {
    let text = "test('takes a discount', () => {\n  expect(total(2)).toBe(6);\n});\n\n\
                test('counts the prices', () => {\n  expect(count(1)).toBe(3);\n});\n";
    for seed in 0..200 {
        let made = twins("a.test.js", text.as_bytes(), &seed.to_string(), &[]).unwrap();
        for pair in &made.pairs {
            let has: Vec<&str> = pair.must_fail.split(' ').collect();
            assert!(
                pair.of.split(' ').all(|word| has.contains(&word)),
                "{pair:?}"
            );
            assert_ne!(pair.of, pair.must_fail);
        }
    }
}

#[test]
fn what_may_hold_either_way_gets_no_twin() {
    for (file, text) in [
        ("t.py", "def test_a():\n    assert f(1) >= 3\n"),
        ("t.py", "def test_a():\n    assert f(1) == g(2)\n"),
        ("t.py", "def test_a():\n    assert x == 3\n"),
        ("t.py", "def test_a():\n    assert f(1) not in g(2) == 3\n"),
        ("t.py", "def test_a():\n    assert f(1) == 3 or f(2) == 4\n"),
        (
            "t.py",
            "def test_a():\n    assert f(1) == pytest.approx(3)\n",
        ),
        (
            "t.py",
            "def test_a():\n    try:\n        assert f(1) == 3\n    except E:\n        pass\n",
        ),
        ("t.py", "def helper():\n    assert f(1) == 3\n"),
        ("t.rs", "fn helper() {\n    assert_eq!(f(), 2);\n}\n"),
        ("t.go", "func TestA(t *testing.T) {\n}\n"),
        // minitest numbers what is described: one more would rename the others.
        (
            "t.rb",
            "require \"minitest/autorun\"\ndescribe A do\n  it \"a\" do\n    assert_equal 2, f\n  end\nend\n",
        ),
    ] {
        assert_eq!(twins(file, text.as_bytes(), "seed", &[]), None, "{text}");
    }
}

#[test]
fn an_id_leads_to_that_of_its_twin() {
    for (of, id, expected) in [
        (
            "test_a",
            "tests/test_x.py::T::test_a[1-a]",
            &["tests/test_x.py::T::NEW[1-a]"][..],
        ),
        (
            "test_a",
            "test_a (tests.test_x.T.test_a)",
            &["test_a (tests.test_x.T.NEW)", "NEW (tests.test_x.T.NEW)"],
        ),
        (
            "test_a",
            "t/test_a.py::test_a",
            &["t/test_a.py::NEW", "t/NEW.py::NEW"],
        ),
        ("test_a", "ATest#test_a", &["ATest#NEW"]),
        ("test_a", "t.py::test_ab", &[]),
        ("test_a", "t.py::x[test_a]", &[]),
        ("finds gaps", "a > finds gaps", &["a > NEW"]),
        ("testA", "Shop\\ATest::testA", &["Shop\\ATest::NEW"]),
    ] {
        let twin = Twin {
            of: of.to_owned(),
            must_fail: "NEW".to_owned(),
        };
        assert_eq!(twin.ids(id), expected, "{of} in {id}");
    }
}

#[test]
fn go_and_values_with_fields() {
    let go = |body: &str| {
        format!("package a\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {{\n{body}\n}}\n")
    };
    for (file, text, kept) in [
        (
            "a_test.go",
            go("\tif got := Total([]int{1, 2}, 3); got != 6 {\n\t\tt.Error(got)\n\t}"),
            "; got != 6 {",
        ),
        (
            "a_test.go",
            go(
                "\tgot := Both(3)\n\twant := Sum{Of: 2, Name: \"x\"}\n\tif got != want {\n\t\tt.Error(got)\n\t}",
            ),
            "want := Sum{Of: 2, Name: \"x\"}",
        ),
        (
            "a_test.go",
            go("\tassert.Equal(t, 6, Total(3))"),
            "(t, 6, Total",
        ),
        (
            "a_test.go",
            "package a\n\nvar _ = Describe(\"A\", func() {\n\tIt(\"adds\", func() {\n\t\tExpect(Both(3)).To(Equal(Sum{Of: 2}))\n\t})\n})\n".to_owned(),
            "(Sum{Of: 2})",
        ),
        (
            "a_test.go",
            "package a\n\nvar _ = g.Describe(\"A\", func() {\n\tg.It(\"adds\", func() {\n\t\tm.Expect(Both(3)).Should(m.Equal(6))\n\t})\n})\n".to_owned(),
            "Equal(6)",
        ),
        (
            "tests/a.rs",
            "#[test]\nfn sums() {\n    assert_eq!(both(3), Sum { of: 2 });\n}\n".to_owned(),
            "Sum { of: 2 }",
        ),
        (
            "tests/a.rs",
            "#[test]\nfn sums() {\n    assert_eq!(both(3), Money::new(2));\n}\n".to_owned(),
            "Money::new(2)",
        ),
    ] {
        let (_, _, new) = one(file, &text);
        assert_eq!(new.matches(kept).count(), 1, "{new}");
    }
}

#[test]
fn java() {
    let class = |body: &str| {
        format!(
            "class CartTest {{\n    private int n;\n\n    @Test\n    void addsThePrices() throws Exception {{\n        {body}\n    }}\n\n    void helper() {{\n        assertEquals(1, f(1));\n    }}\n}}\n"
        )
    };
    for (body, kept) in [
        ("assertEquals(6, Cart.total(1, 2));", "(6, Cart.total"),
        (
            "Assertions.assertEquals(6L, Cart.total(1, 2));",
            "(6L, Cart",
        ),
        (
            "assertEquals(\"a b\", label(3), \"what\");",
            "(\"a b\", label",
        ),
        (
            "assertEquals(new Cart.Summary(2, 180), Cart.summary(3));",
            "(new Cart.Summary(2, 180), ",
        ),
        ("assertEquals(Cart.total(1, 2), 6);", "2), 6);"),
        (
            "assertThat(Cart.all(3)).isEqualTo(List.of(1, 2));",
            "To(List.of(1, 2));",
        ),
    ] {
        let (made, _, new) = one("src/test/java/CartTest.java", &class(body));
        assert_eq!(made, "addsThePrices");
        assert_eq!(new.matches("@Test\n").count(), 2, "{new}");
        assert_eq!(new.matches(kept).count(), 1, "{new}");
    }
    for text in [
        class("if (n > 0) {\n            assertEquals(6, Cart.total(1, 2));\n        }"),
        class("assertTrue(Cart.isEmpty());"),
    ] {
        let made = twins("CartTest.java", text.as_bytes(), "seed", &[]);
        assert_eq!(made, None, "{text}");
    }
}

#[test]
fn a_comparison_that_may_not_run_has_no_twin() {
    for (file, text) in [
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tfor range all {\n\t\tassert.Equal(t, 6, Total(3))\n\t}\n}\n",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tif short {\n\t\tt.Skip()\n\t}\n\tassert.Equal(t, 6, Total(3))\n}\n",
        ),
        (
            "a_test.go",
            "var _ = Describe(\"A\", func() {\n\tIt(\"adds\", func() {\n\t\tEventually(func() {\n\t\t\tExpect(Total(3)).To(Equal(6))\n\t\t})\n\t})\n})\n",
        ),
        (
            "a.rs",
            "#[test]\nfn a() {\n    for n in all() {\n        assert_eq!(f(n), 3);\n    }\n}\n",
        ),
        (
            "a.test.js",
            "test('a', () => {\n  if (x) {\n    expect(f(1)).toBe(2);\n  }\n});\n",
        ),
    ] {
        assert_eq!(twins(file, text.as_bytes(), "seed", &[]), None, "{text}");
    }
}
