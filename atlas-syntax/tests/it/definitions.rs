//! What is found in each language, and where.

use atlas_syntax::{Definition, Language, Lines, Nesting, Source};

/// One line per definition: kind, qualified name, lines, `;` where there is no body.
fn listing(source: &Source) -> Vec<String> {
    let line = |one: &Definition| {
        let body = if one.body.is_some() { "" } else { ";" };
        let name = if one.container.is_empty() {
            one.name.clone()
        } else {
            format!("{} / {}", one.container, one.name)
        };
        format!(
            "{:?} {name} {}-{}{body}",
            one.kind, one.lines.first, one.lines.last
        )
    };
    source.definitions().iter().map(line).collect()
}

pub(crate) fn check(language: Language, text: &str, expected: &[&str]) {
    let source = Source::new(language, text);
    assert_eq!(listing(&source), expected, "{language:?}\n{text}");
    // The same with other line ends, and without the last one.
    let windows = Source::new(language, text.replace('\n', "\r\n"));
    assert_eq!(listing(&windows), expected, "{language:?} with CRLF");
    let cut = Source::new(language, text.trim_end());
    assert_eq!(
        listing(&cut),
        expected,
        "{language:?} without the last line end"
    );
}

#[test]
fn python() {
    check(
        Language::Python,
        "\
import os

# about f
# in two lines
@decorated(1)
@twice
def f(a,
      b=1):
    '''doc'''
    def inner():
        return lambda x: x
    return inner

class A(B):
    # first
    def m(self): pass

    @property
    async def p(self):
        class Local:
            def deep(self):
                return 1
        return Local

double = lambda x: 2 * x
",
        &[
            "Function f 3-12",
            "Function f / inner 10-11",
            "Closure f.inner /  11-11",
            "Type A 14-23",
            "Method A / m 15-16",
            "Method A / p 18-23",
            "Type A.p / Local 20-22",
            "Method A.p.Local / deep 21-22",
            "Function double 25-25",
        ],
    );
}

#[test]
fn go() {
    check(
        Language::Go,
        "\
package p

// Doc of T.
type T[K any] struct {
\ta int
}

type I interface {
\tDo(x int) error
}

// Get is a method.
func (t *T[K]) Get(a, b int) (x int, err error) {
\tf := func() int { return a }
\treturn f(), nil
}

//go:noinline
func free[T any](x T) {}

var table = func(a int) int {
\treturn a
}

var _ = Describe(\"suite\", func() {
\tIt(\"works\", func() {
\t\trun()
\t})
})
",
        &[
            "Type T 3-6",
            "Type I 8-10",
            "Method I / Do 9-9;",
            "Method T / Get 12-16",
            "Closure T.Get /  14-14",
            "Function free 18-19",
            "Function table 21-23",
            "Suite suite 25-29",
            "Test suite / works 26-28",
        ],
    );
}

#[test]
fn rust() {
    check(
        Language::Rust,
        "\
mod m {
    /// Doc.
    #[derive(Debug)]
    pub struct S<T>(T);

    impl<T: Clone> Tr for S<T> {
        // plain
        #[inline]
        fn get(&self) -> T
        where
            T: Copy,
        {
            let c = |x: u8| x + 1;
            fn inner() {}
            self.0
        }
    }
    trait Tr {
        fn get(&self);
        fn has(&self) -> bool { true }
    }
}

macro_rules! mac {
    ($x:expr) => { fn made() {} };
}

proptest! {
    /// Inside a macro.
    #[test]
    fn law(x in 0..10u8) {
        assert!(x < 10);
    }
}
",
        &[
            "Scope m 1-22",
            "Type m / S 2-4",
            "Scope m / S 6-17",
            "Method m::S / get 7-16",
            "Closure m::S::get /  13-13",
            "Function m::S::get / inner 14-14",
            "Type m / Tr 18-21",
            "Method m::Tr / get 19-19;",
            "Method m::Tr / has 20-20",
            "Macro mac 24-26",
            "Function law 29-33",
        ],
    );
}

#[test]
fn java() {
    check(
        Language::Java,
        "\
package a.b;

/** Doc. */
public class A<T> extends B {
    private int x = 0; // trailing
    /** Doc
     * of m. */
    @Override
    public <U> int m(int a, U u) throws E {
        Runnable r = new Runnable() {
            @Override public void run() { x++; }
        };
        list.forEach(e -> { use(e); });
        return 1;
    }

    A() { super(); }

    abstract void none();

    enum K {
        ONE { int v() { return 1; } };
        int v() { return 0; }
    }
    record P(int x) { P { check(x); } }
}
",
        &[
            "Type A 3-26",
            "Method A / m 6-15",
            "Scope A.m / (Runnable) 10-12",
            "Method A.m.(Runnable) / run 11-11",
            "Closure A.m /  13-13",
            "Method A / A 17-17",
            "Method A / none 19-19;",
            "Type A / K 21-24",
            "Scope A.K / ONE 22-22",
            "Method A.K.ONE / v 22-22",
            "Method A.K / v 23-23",
            "Type A / P 25-25",
            "Method A.P / P 25-25",
        ],
    );
}

#[test]
fn c_sharp() {
    check(
        Language::CSharp,
        "\
namespace N
{
    /// <summary>Doc</summary>
    public class A : B
    {
        public int Auto { get; set; }
        public int Full
        {
            get { return 1; }
            set => x = value;
        }
        public string Short => \"s\";
        [Fact]
        public async Task<int> M(int a)
        {
            int Local(int b) { return b; }
            Func<int, int> f = x => x + 1;
            return Local(a);
        }
        ~A() { }
        public A(int x) : base(x) { }
        public static A operator +(A a, A b) => a;
        public int this[int i] { get { return i; } }
        public int Arrow(int x) => x * 2;
    }
    interface I { void None(); }
}
",
        &[
            "Scope N 1-27",
            "Type N / A 3-25",
            "Method N.A / Full 7-11",
            "Method N.A / Short 12-12",
            "Method N.A / M 13-19",
            "Function N.A.M / Local 16-16",
            "Closure N.A.M /  17-17",
            "Method N.A / ~A 20-20",
            "Method N.A / A 21-21",
            "Method N.A / operator + 22-22",
            "Method N.A / this[] 23-23",
            "Method N.A / Arrow 24-24",
            "Type N / I 26-26",
            "Method N.I / None 26-26;",
        ],
    );
}

#[test]
fn php() {
    check(
        Language::Php,
        "\
<?php
namespace A\\B;

/** Doc. */
#[Attr]
function f(int $a = 1): ?int
{
    $g = function ($x) use ($a) { return $x; };
    return $g($a);
}

abstract class C extends D
{
    /** m */
    public static function m() { return new class { function in() {} }; }
    abstract function none();
}

it('adds numbers', function () {
    expect(1 + 1)->toBe(2);
});
test('short', fn () => expect(true)->toBeTrue());
?>
<p>text</p>
",
        &[
            "Scope A\\B 2-2;",
            "Function f 4-10",
            "Closure f /  8-8",
            "Type C 12-17",
            "Method C / m 14-15",
            "Scope C::m / (class) 15-15",
            "Method C::m::(class) / in 15-15",
            "Method C / none 16-16;",
            "Test adds numbers 19-21",
            "Test short 22-22",
        ],
    );
}

#[test]
fn ruby() {
    check(
        Language::Ruby,
        "\
module M
  class A < B
    # Doc
    # of m
    def m(a, b = 1)
      a.each do |x|
        use x
      end
    end

    def self.s; 1 end
    class << self
      def t() = 2
    end
    define_method(:dyn) do |x|
      x + 1
    end
    private def hidden; end
  end
end

RSpec.describe A do
  let(:a) { A.new }
  context 'when big' do
    it 'works' do
      expect(a).to be
    end
    it { is_expected.to be }
  end
end

def empty
end
",
        &[
            "Type M 1-20",
            "Type M / A 2-19",
            "Method M::A / m 3-9",
            "Closure M::A::m /  6-8",
            "Method M::A / self.s 11-11",
            "Scope M::A /  12-14",
            "Method M::A / t 13-13",
            "Method M::A / dyn 15-17",
            "Method M::A / hidden 18-18",
            "Suite A 22-30",
            "Closure A /  23-23",
            "Suite A / when big 24-29",
            "Test A::when big / works 25-27",
            "Test A::when big / it 28-28",
            "Function empty 32-33",
        ],
    );
}

const SCRIPT: &str = "\
import a from 'a';

/** Doc. */
export function f(a, b) {
  const inner = () => a;
  return list.map(x => x + inner());
}

// arrow
export const g = async (x) => {
  return x;
};

class A extends B {
  static field = 1;
  handler = (e) => {
    use(e);
  };
  get size() { return 1; }
  async *gen() {}
}

exports.named = function () { return 1; };
A.prototype.old = function old() {};
const o = {
  short() {},
  pair: function () {},
  'quoted-key': () => 1,
};
export default () => 1;

describe('suite', () => {
  beforeEach(() => { reset(); });
  it('works', async () => {
    run();
  });
  it.each([1, 2])('each %d', (n) => { run(n); });
  test.only(`template`, function (done) { done(); });
});
[1].map(function callback() {});
";

const SCRIPT_DEFINITIONS: &[&str] = &[
    "Function f 3-7",
    "Function f / inner 5-5",
    "Closure f /  6-6",
    "Function g 9-12",
    "Type A 14-21",
    "Method A / handler 16-18",
    "Method A / size 19-19",
    "Method A / gen 20-20",
    "Function exports / named 23-23",
    "Function A.prototype / old 24-24",
    "Method short 26-26",
    "Method pair 27-27",
    "Method quoted-key 28-28",
    "Function default 30-30",
    "Suite suite 32-39",
    "Closure suite /  33-33",
    "Test suite / works 34-36",
    "Test suite / each %d 37-37",
    "Test suite / template 38-38",
    "Function callback 40-40",
];

#[test]
fn javascript() {
    check(Language::JavaScript, SCRIPT, SCRIPT_DEFINITIONS);
    check(Language::TypeScript, SCRIPT, SCRIPT_DEFINITIONS);
    check(Language::Tsx, SCRIPT, SCRIPT_DEFINITIONS);
}

#[test]
fn typescript() {
    check(
        Language::TypeScript,
        "\
export interface I<T> {
  m(a: number): void;
  p: string;
}
export type Fn = (a: number) => void;
function over(a: string): void;
function over(a: any): void { use(a); }
export abstract class A<T> implements I<T> {
  private readonly x: number = 1;
  @decorated()
  // between
  public async m<U>(a: U): Promise<void> {
    return;
  }
  abstract none(): void;
  arrow = <U,>(x: U): U => x;
}
namespace N { export const k = (x: number): number => x; }
declare function ambient(a: string): void;
enum E { One }
",
        &[
            "Type I 1-4",
            "Method I / m 2-2;",
            "Type Fn 5-5;",
            "Function over 6-6;",
            "Function over 7-7",
            "Type A 8-17",
            "Method A / m 10-14",
            "Method A / none 15-15;",
            "Method A / arrow 16-16",
            "Scope N 18-18",
            "Function N / k 18-18",
            "Function ambient 19-19;",
            "Type E 20-20",
        ],
    );
    check(
        Language::Tsx,
        "\
export const Button = ({ label }: Props): JSX.Element => {
  const onClick = () => setCount((c) => c + 1);
  return <button onClick={() => onClick()}>{label}</button>;
};
",
        &[
            "Function Button 1-4",
            "Function Button / onClick 2-2",
            "Closure Button.onClick /  2-2",
            "Closure Button /  3-3",
        ],
    );
}

#[test]
fn signatures_end_where_the_body_begins() {
    let signature = |language, text: &str| {
        let source = Source::new(language, text);
        let found: Vec<String> = source
            .signatures()
            .map(|one| one.signature.clone())
            .collect();
        found.join(" | ")
    };
    assert_eq!(
        signature(
            Language::Python,
            "@d\nasync def f(a, b=':') -> int:\n    pass\nclass A(B): x = 1\n"
        ),
        "async def f(a, b=':') -> int | class A(B)"
    );
    assert_eq!(
        signature(
            Language::Cpp,
            "/* d */ A::A(int x) : x_(x) {}\nint f(int a);\n"
        ),
        "A::A(int x) | int f(int a)"
    );
    assert_eq!(
        signature(
            Language::TypeScript,
            "export const f = (a: number): string => g(a);\ninterface I { m(): void }\n"
        ),
        "export const f = (a: number): string | interface I | m(): void"
    );
    assert_eq!(
        signature(
            Language::Go,
            "package p\nfunc (t *T) F(a int) error { return nil }\ntype S struct { a int }\n"
        ),
        "func (t *T) F(a int) error | S struct"
    );
    assert_eq!(
        signature(
            Language::Ruby,
            "class A < B\n  def m(a, b: 1)\n    a\n  end\nend\n"
        ),
        "class A < B | def m(a, b: 1)"
    );
    assert_eq!(
        signature(
            Language::Rust,
            "#[a]\npub fn f<T>(x: T) -> T where T: A { x }\npub struct S { a: u8 }\n"
        ),
        "pub fn f<T>(x: T) -> T where T: A | pub struct S"
    );
}

#[test]
fn the_function_around_lines() {
    let source = Source::new(
        Language::Python,
        "x = 1\ndef a():\n    def b():\n        return 1\n    return b\n\ny = 2\n",
    );
    let name = |first, last, nesting| {
        let found = source.enclosing(Lines::new(first, last), nesting);
        found.map(|one| one.name.clone())
    };
    assert_eq!(name(4, 4, Nesting::Innermost).as_deref(), Some("b"));
    assert_eq!(name(4, 4, Nesting::Outermost).as_deref(), Some("a"));
    assert_eq!(name(4, 5, Nesting::Innermost).as_deref(), Some("a"));
    assert_eq!(name(1, 2, Nesting::Innermost), None);
    assert_eq!(name(7, 7, Nesting::Innermost), None);
    assert_eq!(name(90, 99, Nesting::Innermost), None);
}

#[test]
fn names_with_dots_and_statements_without_semicolons() {
    check(
        Language::JavaScript,
        "\
module.exports = {
  '/a/b.js': () => 1,
}

require.extensions['.js'] = function () {
}

a.check ??= () => {
}

const f = () => {
}

;[1, 2].map(f)
",
        &[
            "Method /a/b.js 2-2",
            "Function require.extensions['.js'] 5-6",
            "Function a / check 8-9",
            "Function f 11-12",
        ],
    );
    let name = "x".repeat(200);
    check(
        Language::Java,
        &format!("class A {{\n  void {name}() {{}}\n}}\n"),
        &["Type A 1-3", &format!("Method A / {name} 2-2")],
    );
}
