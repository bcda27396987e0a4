//! What is found in C and C++, where macros and headers hide it.

use crate::definitions::check;
use atlas_syntax::{Language, Source};

#[test]
fn c() {
    check(
        Language::C,
        "\
#include <a.h>
#define MAX(a, b) \\
    ((a) > (b) ? (a) : (b))

/* Doc. */
static inline struct node *
find(struct node *n,
     int (*compare)(void *, void *))
{
    return n;
}

int proto(int a);
typedef struct { int x; } point_t;
struct s { int a; };
enum e { ONE };
char *(*table[3])(int);

int old(a, b)
    int a; char *b;
{
    return a;
}
",
        &[
            "Macro MAX 2-3",
            "Function find 5-11",
            "Function proto 13-13;",
            "Type point_t 14-14;",
            "Type s 15-15",
            "Type e 16-16",
            "Function old 19-23",
        ],
    );
}

#[test]
fn macros_of_c_do_not_hide_functions() {
    check(
        Language::C,
        "\
API_PUBLIC(const char *) version(void)
{
    return V;
}

LIB_EXPORT int LIB_CALL run(int a)
{
#ifdef FAST
    if (a) {
#else
    if (!a) {
#endif
        a++;
    }
    return a;
}

int after(void) { return 0; }
",
        &[
            "Function version 1-4",
            "Function run 6-16",
            "Function after 18-18",
        ],
    );
}

#[test]
fn cpp() {
    check(
        Language::Cpp,
        "\
namespace a::b {
// Doc.
template <typename T>
class C : public D<T> {
 public:
  explicit C(int x) : D<T>(x), y_{x} { init(); }
  ~C() = default;
  int get() const noexcept { return y_; }
  virtual void none() = 0;
  bool operator==(const C& o) const { return true; }
  operator bool() const { return true; }
};

template <>
int& C<int>::at(std::size_t i) {
  auto f = [&](int a) { return a + i; };
  return f(1);
}
}  // namespace

auto trail(int a) -> int { return a; }

TEST_F(Suite, Works) {
  EXPECT_EQ(1, 1);
}

TEST_CASE(\"adds numbers\", \"[math]\") {
  SECTION(\"small\") { REQUIRE(1 + 1 == 2); }
}

TEST_CASE_METHOD(Fixture, \"has a fixture\") {
  go();
}
",
        &[
            "Scope a::b 1-19",
            "Type a::b / C 2-12",
            "Method a::b::C / C 6-6",
            "Method a::b::C / ~C 7-7;",
            "Method a::b::C / get 8-8",
            "Method a::b::C / none 9-9;",
            "Method a::b::C / operator== 10-10",
            "Method a::b::C / operator bool 11-11",
            "Method a::b::C<int> / at 14-18",
            "Closure a::b::C<int>::at /  16-16",
            "Function trail 21-21",
            "Test Suite.Works 23-25",
            "Test adds numbers 27-29",
            "Test has a fixture 31-33",
        ],
    );
}

#[test]
fn classes_behind_macros() {
    check(
        Language::Cpp,
        "\
LIB_BEGIN_NAMESPACE
namespace n {
class LIB_API Value {
 public:
  LIB_NODISCARD int get() const { return 1; }
  Value& operator=(const Value& other);
};
LIB_INLINE void Value::set(int a) {
  a_ = a;
}
}
LIB_END_NAMESPACE
",
        &[
            "Scope n 2-11",
            "Type n / Value 3-7",
            "Method n::Value / get 5-5",
            "Method n::Value / operator= 6-6;",
            "Method n::Value / set 8-10",
        ],
    );
}

#[test]
fn a_return_type_that_is_computed_does_not_hide_its_function() {
    check(
        Language::Cpp,
        "\
template <typename Char, typename T>
constexpr auto has_impl(T*)
    -> decltype(maker<remove_t<T>, Char>().make(std::declval<T&>()), true) {
  return true;
}
int after() { return 1; }
",
        &["Function has_impl 1-5", "Function after 6-6"],
    );
}

#[test]
fn a_header_is_read_as_what_it_holds() {
    let cpp = Source::of_path(
        "a/b.h",
        "namespace n { class C { public: int m() { return 1; } }; }\n",
    )
    .unwrap();
    assert_eq!(cpp.language(), Language::Cpp);
    let c = Source::of_path("a/b.h", "static int f(int class) { return class; }\n").unwrap();
    assert_eq!(c.language(), Language::C);
    assert!(Source::of_path("a/b.txt", "int f;\n").is_none());
}

#[test]
fn words_in_capitals_that_are_no_macros_of_their_own() {
    // The broken macro makes the second look; enumerators, arguments and operands stay.
    let text = "\
BROKEN_MACRO(a b, int) static
enum one {
    ONLY
};
enum two {
    FIRST,
    SECOND
};
int table[] = {
    FIRST,
    SECOND
};
int f(int a)
{
    call(a,
         FIRST
    );
    return FIRST |
        SECOND
        ;
}
";
    let source = Source::new(Language::C, text);
    let names = source.identifiers(0..text.len());
    for name in ["ONLY", "FIRST", "SECOND"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    assert!(source.units().any(|one| one.name == "f"));
    let enumerators = source.identifiers(source.bytes_of(atlas_syntax::Lines::new(2, 8)));
    assert!(enumerators.contains("ONLY") && enumerators.contains("SECOND"));
}

#[test]
fn macros_around_and_behind_declarations() {
    let text = "\
API_EXPORT(void first(struct heap *heap, int b)) {
  heap->min = b;
}

class A : public B {
  DEFINE_ERRORS(B, A)
  DEFINE_MORE(A)
  static A second(std::string name) { return A(name); }
  void third() BOOST_OVERRIDE {
    run();
  }
  bool fourth() const REQUIRES_LOCK(mutex) { return true; }
};

void fifth() {
  BEGIN_CHECK
  check(1);
  END_CHECK
}
";
    let source = Source::new(Language::Cpp, text);
    let units: Vec<String> = source
        .units()
        .map(|one| format!("{} {}-{}", one.name, one.lines.first, one.lines.last))
        .collect();
    assert_eq!(
        units,
        [
            "first 1-3",
            "second 8-8",
            "third 9-11",
            "fourth 12-12",
            "fifth 15-19"
        ]
    );
}

#[test]
fn statements_are_no_functions() {
    let text = "int f(int a) {\n  if (a) {\n#ifdef X\n    g(); }\n#else\n    h(); }\n#endif\n  while (a) { a--; }\n  return a;\n}\n} if (b) { c(); }\n";
    let source = Source::new(Language::C, text);
    assert!(
        source.units().all(|one| one.name == "f"),
        "{:?}",
        source.definitions()
    );
}
